/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the agent does between two timed sleeps, instruction by instruction: a
 * short loop beside the port's sleep, no system call but that, no page fault.
 */
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOP_MAX    60	/* instructions beside the port's sleep, as the rows promise */
#define OWN_MAX	    140 /* with it: deadline to timespec, call, first reading */
#define SETTLED	    24	/* sleeps in a row: more than the agent takes before its grid */
#define SLEEPS	    32
#define STEPS_LIMIT 100000

#if defined(__x86_64__)

struct tracee {
	pid_t pid;
	unsigned long long text_begin, text_end;   /* of the agent itself */
	unsigned long long sleep_begin, sleep_end; /* of the port's sleep */
};

static const char *agent_path(char *path, size_t size)
{
	const char *build = getenv("BUILD");

	snprintf(path, size, "%s/sameboard-agent", build ? build : "build");
	return path;
}

static void wait_stop(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status), "the agent ended, status %x", status);
}

static void start(struct tracee *tracee, const char *bench)
{
	char program[256];

	agent_path(program, sizeof(program));
	tracee->pid = fork();
	ck_assert_int_ge(tracee->pid, 0);
	if (tracee->pid == 0) {
		freopen("/dev/null", "w", stdout);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(program, program, "bench", bench, "--samples", "2000", "--period", "20000",
			"--keep-settings", (char *)NULL);
		_exit(127);
	}
	wait_stop(tracee->pid);
	ck_assert_int_eq(ptrace(PTRACE_SETOPTIONS, tracee->pid, NULL,
				 (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)),
		0);
}

/* The file begins at the first mapping, and its addresses count from there. */
static void find_sleep(struct tracee *tracee, unsigned long long base)
{
	unsigned long long address = 0, size = 0;
	char program[256], command[300], line[256];
	FILE *symbols;

	snprintf(command, sizeof(command), "nm -S %s", agent_path(program, sizeof(program)));
	symbols = popen(command, "r");
	ck_assert_ptr_nonnull(symbols);
	while (fgets(line, sizeof(line), symbols)) {
		if (strstr(line, " posix_wait_until\n"))
			ck_assert_int_eq(sscanf(line, "%llx %llx", &address, &size), 2);
	}
	ck_assert_int_eq(pclose(symbols), 0);
	ck_assert_uint_gt(size, 0);
	tracee->sleep_begin = base + address;
	tracee->sleep_end = base + address + size;
}

static void find_text(struct tracee *tracee)
{
	unsigned long long begin, offset, base = 0;
	char path[64], line[512];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tracee->pid);
	maps = fopen(path, "r");
	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps)) {
		if (!strstr(line, "/sameboard-agent"))
			continue;
		ck_assert_int_eq(sscanf(line, "%llx-%*x %*s %llx", &begin, &offset), 2);
		if (offset == 0)
			base = begin;
		if (strstr(line, " r-xp "))
			ck_assert_int_eq(
				sscanf(line, "%llx-%llx", &tracee->text_begin, &tracee->text_end),
				2);
	}
	fclose(maps);
	ck_assert_uint_gt(base, 0);
	ck_assert_uint_gt(tracee->text_end, 0);
	find_sleep(tracee, base);
}

static struct user_regs_struct get_registers(const struct tracee *tracee)
{
	struct user_regs_struct registers;

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, tracee->pid, NULL, &registers), 0);
	return registers;
}

/* To the end of a sleep, after many in a row: the grid. */
static void run_to_grid(const struct tracee *tracee)
{
	unsigned int in_a_row = 0;

	while (in_a_row < SETTLED) {
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, tracee->pid, NULL, NULL), 0);
		wait_stop(tracee->pid); /* entry */
		in_a_row = get_registers(tracee).orig_rax == SYS_clock_nanosleep ? in_a_row + 1 : 0;
		ck_assert_int_eq(ptrace(PTRACE_SYSCALL, tracee->pid, NULL, NULL), 0);
		wait_stop(tracee->pid); /* return */
	}
}

static unsigned long long read_faults(const struct tracee *tracee)
{
	unsigned long long minor = 0, major = 0;
	char path[64], text[512] = "";
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tracee->pid);
	stat = fopen(path, "r");
	ck_assert_ptr_nonnull(stat);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), stat));
	fclose(stat);
	ck_assert_int_eq(sscanf(strrchr(text, ')') + 2, "%*c %*d %*d %*d %*d %*d %*u %llu %*u %llu",
				 &minor, &major),
		2);
	return minor + major;
}

static bool is_at_syscall(const struct tracee *tracee, const struct user_regs_struct *registers)
{
	long word = ptrace(PTRACE_PEEKTEXT, tracee->pid, (void *)registers->rip, NULL);

	return (word & 0xffff) == 0x050f;
}

struct count {
	unsigned int all, own, loop;
};

static void count_one(struct count *count, const struct tracee *tracee, unsigned long long rip)
{
	bool is_own = rip >= tracee->text_begin && rip < tracee->text_end;

	count->all++;
	count->own += is_own;
	count->loop += is_own && !(rip >= tracee->sleep_begin && rip < tracee->sleep_end);
}

START_TEST(between_two_sleeps_there_is_next_to_nothing)
{
	const char *build = getenv("BUILD");
	bool is_plain = !build || strcmp(build, "build") == 0;
	struct count now = {0}, most = {0};
	unsigned int sleeps = 0;
	struct tracee tracee = {0};
	unsigned long long faults;

	start(&tracee, _i ? "wake.cpu" : "wake.idle");
	run_to_grid(&tracee);
	find_text(&tracee);
	faults = read_faults(&tracee);
	for (unsigned int steps = 0; sleeps <= SLEEPS; steps++) {
		struct user_regs_struct registers = get_registers(&tracee);

		ck_assert_uint_lt(steps, STEPS_LIMIT);
		count_one(&now, &tracee, registers.rip);
		if (is_at_syscall(&tracee, &registers)) {
			ck_assert_msg(registers.rax == SYS_clock_nanosleep,
				"system call %llu between two sleeps", registers.rax);
			/* The first one is entered from where the run was stopped. */
			if (sleeps++ > 0 && now.all > most.all)
				most = now;
			now = (struct count){0};
		}
		ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, tracee.pid, NULL, NULL), 0);
		wait_stop(tracee.pid);
	}
	ck_assert_uint_eq(read_faults(&tracee), faults);
	printf("%s: at most %u instructions between two system calls: %u of the C library, %u of "
	       "the port's sleep, %u of the loop\n",
		_i ? "wake.cpu" : "wake.idle", most.all, most.all - most.own, most.own - most.loop,
		most.loop);
	ck_assert_uint_gt(most.loop, 10);
	/* A sanitizer adds its own. */
	if (is_plain) {
		ck_assert_uint_lt(most.loop, LOOP_MAX);
		ck_assert_uint_lt(most.own, OWN_MAX);
	}
	kill(tracee.pid, SIGKILL);
	waitpid(tracee.pid, NULL, 0);
}
END_TEST

#else

START_TEST(between_two_sleeps_there_is_next_to_nothing)
{
	puts("SKIP: this test knows only x86's instructions");
}
END_TEST

#endif

int main(void)
{
	Suite *suite = suite_create("agent_loop");
	TCase *tcase = tcase_create("loop");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, between_two_sleeps_there_is_next_to_nothing, 0, 2);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
