/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/process.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents/linux/tuning.h"

#define LOOK_NS	   1000000
#define LOOKS_MAX  900u	 /* for a victim to die */
#define LOOKS_LIVE 20u	 /* for a thread to show that it goes on */
#define WILD	   0x10u /* where no program has anything */

struct process_shared {
	atomic_uint_fast64_t forks;
	atomic_uint_fast64_t beats; /* of the thread that measures beside a victim */
};

void process_init(struct processes *processes)
{
	void *shared = mmap(NULL, sizeof(*processes->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*processes = (struct processes){.shared = shared == MAP_FAILED ? NULL : shared};
	for (int i = 0; i < POSIX_VICTIMS; i++)
		processes->victims[i].begin = -1;
}

static void pause_once(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};

	nanosleep(&look, NULL);
}

/* Ends a child and reaps it. */
static void end_child(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGKILL);
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	*pid = 0;
}

/*
 * A child at the lowest priority that ends with the agent; 0 in it.  Fork
 * leaves the agent's pages to be copied at the first write: locking what is
 * locked already writes to all of them now.
 */
static pid_t make_child(void)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid > 0) {
		mlockall(MCL_CURRENT | MCL_FUTURE);
	} else if (pid == 0) {
		tuning_set_policy(SCHED_OTHER, 0);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

/* ---------------------------------------------------------------- forks */

int process_start_forks(struct processes *processes)
{
	struct process_shared *shared = processes->shared;
	pid_t pid;

	if (!shared)
		return -1;
	atomic_store(&shared->forks, 0);
	pid = make_child();
	if (pid < 0)
		return -1;
	while (pid == 0) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		if (child > 0 && waitpid(child, NULL, 0) == child)
			atomic_fetch_add(&shared->forks, 1);
	}
	processes->forker = pid;
	return 0;
}

uint64_t process_stop_forks(struct processes *processes)
{
	end_child(&processes->forker);
	return atomic_load(&processes->shared->forks);
}

/* ---------------------------------------------------------------- victims */

/* A fault with a handler is not written to the kernel's log; the signal then ends it as ever. */
static void take_fault(int number)
{
	signal(number, SIG_DFL);
	raise(number);
}

static void write_wildly(void)
{
	volatile uint8_t *wild = (volatile uint8_t *)(uintptr_t)WILD;

	__asm__ volatile("" : "+r"(wild));
	*wild = 1;
}

static void *run_victim(void *context)
{
	(void)context;
	write_wildly();
	return NULL;
}

static void *run_measurer(void *context)
{
	struct process_shared *shared = context;

	for (;;) {
		pause_once();
		atomic_fetch_add(&shared->beats, 1);
	}
	return NULL;
}

static _Noreturn void be_victim(struct process_shared *shared, enum posix_victim victim, int begin)
{
	const struct sigaction action = {.sa_handler = take_fault, .sa_flags = SA_NODEFER};
	pthread_t measurer;
	pthread_t thread;
	char byte;

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	if (victim == POSIX_VICTIM_THREAD &&
		pthread_create(&measurer, NULL, run_measurer, shared) != 0)
		_exit(1);
	if (read(begin, &byte, 1) != 1)
		_exit(0);
	if (victim == POSIX_VICTIM_PROCESS)
		write_wildly();
	else if (pthread_create(&thread, NULL, run_victim, NULL) == 0)
		pthread_join(thread, NULL);
	/* Nobody stopped it: then the one beside it goes on. */
	for (;;)
		pause();
}

static void give_up(struct process_victim *victim)
{
	end_child(&victim->pid);
	if (victim->begin >= 0)
		close(victim->begin);
	victim->begin = -1;
}

int process_begin_victim(struct processes *processes, enum posix_victim victim)
{
	struct process_victim *made = &processes->victims[victim];
	int ends[2];

	give_up(made);
	if (!processes->shared || pipe(ends) != 0)
		return -1;
	if (victim == POSIX_VICTIM_THREAD)
		atomic_store(&processes->shared->beats, 0);
	made->pid = make_child();
	if (made->pid == 0) {
		close(ends[1]);
		be_victim(processes->shared, victim, ends[0]);
	}
	close(ends[0]);
	made->begin = ends[1];
	if (made->pid > 0)
		return 0;
	made->pid = 0;
	give_up(made);
	return -1;
}

static bool is_beating(struct process_shared *shared)
{
	uint64_t before = atomic_load(&shared->beats);

	for (unsigned int look = 0; look < LOOKS_LIVE; look++) {
		pause_once();
		if (atomic_load(&shared->beats) != before)
			return true;
	}
	return false;
}

int process_run_victim(struct processes *processes, enum posix_victim kind, struct posix_fate *fate)
{
	struct process_victim *victim = &processes->victims[kind];
	const char byte = 0;
	pid_t ended = 0;
	int status = 0;

	/* A thread that has never measured could not be seen to stop. */
	if (victim->pid <= 0 || (kind == POSIX_VICTIM_THREAD && !is_beating(processes->shared)) ||
		write(victim->begin, &byte, 1) != 1)
		return -1;
	for (unsigned int look = 0; ended == 0 && look < LOOKS_MAX; look++) {
		pause_once();
		ended = waitpid(victim->pid, &status, WNOHANG);
	}
	fate->agent_survived = true;
	fate->measurer_survived = kind == POSIX_VICTIM_THREAD && is_beating(processes->shared);
	fate->signal = ended > 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (ended > 0)
		victim->pid = 0;
	give_up(victim);
	return ended < 0 ? -1 : 0;
}

void process_fini(struct processes *processes)
{
	end_child(&processes->forker);
	for (int i = 0; i < POSIX_VICTIMS; i++)
		give_up(&processes->victims[i]);
	if (processes->shared)
		munmap(processes->shared, sizeof(*processes->shared));
	processes->shared = NULL;
}
