/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/vm_rig.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "boardctl/monotonic.h"

/* A guest without KVM on a machine that is busy with other things. */
#define PATIENCE_MS 600000
#define PAUSE_US    20000

static const char mux_script[] = "#!/bin/sh\n"
				 "exec 4<>/dev/virtio-ports/mux\n"
				 "echo \"$1\" >&4\n"
				 "read -r answer <&4\n"
				 "echo \"$answer\"\n";

static const char *lab_path(struct vm_rig *vm, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "vm/%s", name);
	return scratch_path(&vm->lab.scratch, path);
}

void vm_rig_write(struct vm_rig *vm, const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "vm/%s", name);
	scratch_write(&vm->lab.scratch, path, text, strlen(text));
}

static const char lab_text[] =
	"{ \"boards\": { \"vpanel\": {\n"
	"  \"model\": \"virtual-86-panel\",\n"
	"  \"console\": { \"driver\": \"serial\", \"reopen_ms\": 60000,\n"
	"    \"match\": { \"usb\": \"0403:6001\", \"serial\": \"CONSOLE1\" } },\n"
	"  \"power\": { \"driver\": \"lcus\", \"channel\": 1, \"off_ms\": 200, "
	"\"answer_ms\": 20000,\n"
	"    \"port\": { \"driver\": \"serial\",\n"
	"      \"match\": { \"usb\": \"0403:6001\", \"serial\": \"RELAY1\" } } },\n"
	"  \"sdmux\": { \"driver\": \"command\", \"command\": \"/lab/mux\",\n"
	"    \"timeout_ms\": 120000, \"card\": \"%s\"%s } } } }\n";

static const char suite_text[] = "{ \"systems\": [\"baremetal\"], \"boots\": 1, \"soak_s\": 1,\n"
				 "  \"windows\": [{ \"bench\": \"wake.idle\", \"n\": 200 }] }\n";

void vm_rig_write_lab(struct vm_rig *vm, const char *card, const char *more)
{
	char text[2048];

	ck_assert_int_lt(snprintf(text, sizeof(text), lab_text, card, more), (int)sizeof(text));
	vm_rig_write(vm, "lab.json", text);
	vm_rig_write(vm, "suite.json", suite_text);
}

/* --------------------------------------------------------------------- QMP */

static cJSON *read_answer(struct vm_rig *vm)
{
	char *line = NULL;
	size_t room = 0;
	cJSON *answer = NULL;

	while (!answer) {
		ck_assert_msg(getline(&line, &room, vm->qmp) > 0, "the machine is gone");
		answer = cJSON_Parse(line);
		ck_assert_msg(answer != NULL, "QMP said %s", line);
		/* Events and the greeting are not waited for. */
		if (!cJSON_HasObjectItem(answer, "return") &&
			!cJSON_HasObjectItem(answer, "error")) {
			cJSON_Delete(answer);
			answer = NULL;
		}
	}
	free(line);
	return answer;
}

cJSON *vm_rig_ask(struct vm_rig *vm, const char *command, const char *arguments, ...)
{
	char text[1024] = "{}";
	cJSON *answer, *wanted;
	va_list list;

	if (arguments) {
		va_start(list, arguments);
		ck_assert_int_lt(vsnprintf(text, sizeof(text), arguments, list), (int)sizeof(text));
		va_end(list);
	}
	ck_assert_int_gt(
		dprintf(fileno(vm->qmp), "{\"execute\":\"%s\",\"arguments\":%s}\n", command, text),
		0);
	answer = read_answer(vm);
	wanted = cJSON_DetachItemFromObject(answer, "return");
	cJSON_Delete(answer);
	return wanted;
}

/* Until QEMU does it: what is unplugged is held until the guest has let it go. */
#define MUST(vm, command, ...)                                                                     \
	do {                                                                                       \
		uint64_t deadline_ms = monotonic_get_ms() + PATIENCE_MS;                           \
		cJSON *answer_;                                                                    \
		while (!(answer_ = vm_rig_ask(vm, command, __VA_ARGS__))) {                        \
			ck_assert_msg(                                                             \
				monotonic_get_ms() < deadline_ms, "QEMU refuses %s", command);     \
			monotonic_sleep_until_us(monotonic_get_us() + PAUSE_US);                   \
		}                                                                                  \
		cJSON_Delete(answer_);                                                             \
	} while (0)

void vm_rig_plug_port(struct vm_rig *vm, const char *id, const char *end, const char *serial)
{
	char path[64] = "";

	if (end) {
		snprintf(path, sizeof(path), "board/%s", end);
		MUST(vm, "chardev-add",
			"{\"id\":\"wire-%s\",\"backend\":{\"type\":\"serial\",\"data\":{\"device\":"
			"\"%s\"}}}",
			id, scratch_path(&vm->lab.scratch, path));
	} else {
		MUST(vm, "chardev-add",
			"{\"id\":\"wire-%s\",\"backend\":{\"type\":\"null\",\"data\":{}}}", id);
	}
	MUST(vm, "device_add",
		"{\"driver\":\"usb-serial\",\"id\":\"%s\",\"chardev\":\"wire-%s\",\"serial\":\"%s\","
		"\"always-plugged\":true}",
		id, id, serial);
}

void vm_rig_unplug_port(struct vm_rig *vm, const char *id)
{
	MUST(vm, "device_del", "{\"id\":\"%s\"}", id);
	MUST(vm, "chardev-remove", "{\"id\":\"wire-%s\"}", id);
}

static void add_disk(struct vm_rig *vm, const char *id, const char *file, const char *usb_serial)
{
	MUST(vm, "blockdev-add",
		"{\"driver\":\"raw\",\"node-name\":\"disk-%s\",\"file\":{\"driver\":\"file\","
		"\"filename\":\"%s\",\"locking\":\"on\"}}",
		id, file);
	if (usb_serial)
		MUST(vm, "device_add",
			"{\"driver\":\"usb-storage\",\"id\":\"%s\",\"drive\":\"disk-%s\","
			"\"removable\":true,\"serial\":\"%s\"}",
			id, id, usb_serial);
	else
		MUST(vm, "device_add",
			"{\"driver\":\"virtio-blk-pci\",\"id\":\"%s\",\"drive\":\"disk-%s\","
			"\"bus\":\"slot-%s\"}",
			id, id, id);
}

void vm_rig_add_disk(struct vm_rig *vm, const char *id, unsigned mib, const char *usb_serial)
{
	char path[PATH_MAX], name[64];
	int fd;

	snprintf(name, sizeof(name), "%s.img", id);
	snprintf(path, sizeof(path), "%s", scratch_path(&vm->lab.scratch, name));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	ck_assert_int_eq(ftruncate(fd, (off_t)mib << 20), 0);
	close(fd);
	add_disk(vm, id, path, usb_serial);
}

/* ------------------------------------------------------------------ the mux */

void vm_rig_pull_reader(struct vm_rig *vm)
{
	if (!vm->has_card)
		return;
	MUST(vm, "device_del", "{\"id\":\"reader\"}");
	MUST(vm, "blockdev-del", "{\"node-name\":\"disk-reader\"}");
	vm->has_card = false;
}

static void move_card(struct vm_rig *vm, const char *position, char *answer, size_t size)
{
	char question[80];
	bool is_host = strcmp(position, "host") == 0;

	if (strcmp(position, "get") == 0) {
		lab_rig_ask(&vm->lab, "mux", answer, size);
		return;
	}
	/* Out of the one before it is in the other. */
	if (!is_host)
		vm_rig_pull_reader(vm);
	snprintf(question, sizeof(question), "mux %s", position);
	lab_rig_ask(&vm->lab, question, answer, size);
	if (is_host && !vm->has_card) {
		add_disk(vm, "reader", scratch_path(&vm->lab.scratch, "card.bin"), "CARD0001");
		vm->has_card = true;
	}
}

/* -------------------------------------------------------------------- shell */

/* A whole line of those that have come: 1; 0 not yet. */
static bool take_line(int fd, char *line, size_t size, size_t *used)
{
	ssize_t got = recv(fd, line + *used, 1, MSG_DONTWAIT);

	while (got == 1 && line[*used] != '\n') {
		++*used;
		ck_assert_uint_lt(*used, size);
		got = recv(fd, line + *used, 1, MSG_DONTWAIT);
	}
	ck_assert_msg(got != 0, "the machine is gone");
	if (got != 1)
		return false;
	line[*used] = '\0';
	*used = 0;
	return true;
}

void vm_rig_begin(struct vm_rig *vm, const char *command)
{
	ck_assert_int_gt(dprintf(vm->test_fd, "%s\n", command), 0);
}

bool vm_rig_wait(struct vm_rig *vm, int wait_ms)
{
	struct pollfd fds[] = {
		{.fd = vm->test_fd, .events = POLLIN}, {.fd = vm->mux_fd, .events = POLLIN}};
	uint64_t deadline_ms = monotonic_get_ms() + (uint64_t)wait_ms;
	char answer[256];

	for (;;) {
		uint64_t now_ms = monotonic_get_ms();

		if (now_ms >= deadline_ms || poll(fds, 2, (int)(deadline_ms - now_ms)) <= 0)
			return false;
		if (take_line(vm->mux_fd, vm->mux_line, sizeof(vm->mux_line), &vm->mux_used)) {
			move_card(vm, vm->mux_line, answer, sizeof(answer) - 1);
			answer[strcspn(answer, "\n")] = '\0';
			ck_assert_int_gt(dprintf(vm->mux_fd, "%s\n", answer), 0);
		}
		if (!take_line(vm->test_fd, vm->test_line, sizeof(vm->test_line), &vm->test_used))
			continue;
		if (sscanf(vm->test_line, "done %d", &vm->exit_code) == 1)
			return true;
		ck_assert_str_eq(vm->test_line, "ready");
		return true;
	}
}

char *vm_rig_read(struct vm_rig *vm, const char *name)
{
	FILE *file = fopen(lab_path(vm, name), "r");
	char *text = NULL;
	size_t size = 0;

	if (!file || getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = strdup("");
	}
	if (file)
		fclose(file);
	return text;
}

int vm_rig_end(struct vm_rig *vm)
{
	if (!vm_rig_wait(vm, PATIENCE_MS)) {
		char *log = vm_rig_read(vm, "../vm.log");
		size_t size = strlen(log);

		ck_abort_msg(
			"the machine does not answer: %s", log + (size > 2000 ? size - 2000 : 0));
	}
	free(vm->out);
	free(vm->err);
	vm->out = vm_rig_read(vm, "out");
	vm->err = vm_rig_read(vm, "err");
	return vm->exit_code;
}

__attribute__((format(printf, 2, 0))) static int run(
	struct vm_rig *vm, const char *format, va_list list)
{
	ck_assert_int_lt(vsnprintf(vm->command, sizeof(vm->command), format, list),
		(int)sizeof(vm->command));
	vm_rig_begin(vm, vm->command);
	return vm_rig_end(vm);
}

int vm_rig_run(struct vm_rig *vm, const char *format, ...)
{
	va_list list;
	int exit_code;

	va_start(list, format);
	exit_code = run(vm, format, list);
	va_end(list);
	return exit_code;
}

void vm_rig_expect(struct vm_rig *vm, int wanted, const char *format, ...)
{
	va_list list;
	int exit_code;

	va_start(list, format);
	exit_code = run(vm, format, list);
	va_end(list);
	ck_assert_msg(exit_code == wanted, "`%s` ended with %d: %s%s", vm->command, exit_code,
		vm->out, vm->err);
}

void vm_rig_await_word(struct vm_rig *vm, const char *word)
{
	bool is_there = false;

	while (!is_there) {
		char *text;

		ck_assert_msg(
			!vm_rig_wait(vm, 50), "it ended (%d) without \"%s\"", vm->exit_code, word);
		text = vm_rig_read(vm, "err");
		is_there = strstr(text, word) != NULL;
		free(text);
	}
}

void vm_rig_await_ports(struct vm_rig *vm, const char *serials)
{
	vm_rig_expect(vm, 0,
		"for s in %s; do "
		"until ls /dev/serial/by-id/*_$s-if00-port0; do sleep 0.1; done; done; "
		"udevadm settle",
		serials);
}

double vm_rig_count_written(struct vm_rig *vm)
{
	cJSON *all = vm_rig_ask(vm, "query-blockstats", NULL), *one;
	double bytes = 0;

	cJSON_ArrayForEach(one, all)
	{
		const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(one, "qdev"));

		if (name && strstr(name, "/reader/"))
			bytes = cJSON_GetNumberValue(
				cJSON_GetObjectItem(cJSON_GetObjectItem(one, "stats"), "wr_bytes"));
	}
	cJSON_Delete(all);
	return bytes;
}

/* ------------------------------------------------------------ start and end */

static _Noreturn void run_qemu(pid_t parent, const int fds[3], const char *shared, const char *log)
{
	static const char *const names[] = {"qmp", "test", "mux"};
	char *share, *source, *console, *port[3], *here = realpath(".", NULL);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	for (size_t i = 0; i < 3; i++) {
		fcntl(fds[i], F_SETFD, 0);
		if (asprintf(&port[i], "socket,id=%s,fd=%d", names[i], fds[i]) < 0)
			_exit(126);
	}
	if (asprintf(&share, "local,path=%s,mount_tag=lab,security_model=none", shared) < 0 ||
		asprintf(&source, "local,path=%s,mount_tag=src,security_model=none,readonly=on",
			here) < 0 ||
		asprintf(&console, "file:%s", log) < 0)
		_exit(126);
	execlp("qemu-system-x86_64", "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-m",
		"1024", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
		"-kernel", "build/vm/vmlinuz", "-initrd", "build/vm/initramfs", "-append",
		"console=ttyS0 quiet panic=-1 mitigations=off nokaslr", "-serial", console,
		"-chardev", port[0], "-mon", "chardev=qmp,mode=control", "-device",
		"virtio-serial-pci", "-chardev", port[1], "-device",
		"virtserialport,chardev=test,name=test", "-chardev", port[2], "-device",
		"virtserialport,chardev=mux,name=mux", "-virtfs",
		"local,path=/usr,mount_tag=usr,security_model=none,readonly=on,multidevs=remap",
		"-virtfs", source, "-virtfs", share, "-device", "qemu-xhci,id=usb,p2=15,p3=15",
		"-device", "pcie-root-port,id=slot-own,slot=5,chassis=5", (char *)NULL);
	_exit(127);
}

void vm_rig_start(struct vm_rig *vm, unsigned card_mib)
{
	char shared[PATH_MAX], log[PATH_MAX];
	int ours[3], theirs[3];
	pid_t self = getpid();

	*vm = (struct vm_rig){0};
	lab_rig_start(&vm->lab, NULL, card_mib);
	snprintf(shared, sizeof(shared), "%s", scratch_path(&vm->lab.scratch, "vm"));
	ck_assert_int_eq(mkdir(shared, 0777), 0);
	vm_rig_write(vm, "mux", mux_script);
	ck_assert_int_eq(chmod(lab_path(vm, "mux"), 0755), 0);
	snprintf(log, sizeof(log), "%s", scratch_path(&vm->lab.scratch, "vm.log"));
	for (size_t i = 0; i < 3; i++) {
		int pair[2];

		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
		ours[i] = pair[0];
		theirs[i] = pair[1];
	}
	vm->qemu = fork();
	ck_assert_int_ge(vm->qemu, 0);
	if (vm->qemu == 0)
		run_qemu(self, theirs, shared, log);
	for (size_t i = 0; i < 3; i++)
		close(theirs[i]);
	vm->qmp = fdopen(ours[0], "r+");
	vm->test_fd = ours[1];
	vm->mux_fd = ours[2];
	cJSON_Delete(vm_rig_ask(vm, "qmp_capabilities", NULL));
	vm_rig_end(vm);
}

void vm_rig_stop(struct vm_rig *vm)
{
	kill(vm->qemu, SIGKILL);
	waitpid(vm->qemu, NULL, 0);
	fclose(vm->qmp);
	close(vm->test_fd);
	close(vm->mux_fd);
	free(vm->out);
	free(vm->err);
	lab_rig_stop(&vm->lab);
}
