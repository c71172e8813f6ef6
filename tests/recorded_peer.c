/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/recorded_peer.h"

#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "agents/core/counter.h"

#define STACK_SIZE   (256u * 1024)
#define CALIBRATE_US 200000
#define BYTE_NS	     86806u /* 8N1 at 115200 */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t find_counter_hz(void)
{
	uint64_t begin_ns = now_ns(), begin = counter_read();
	uint64_t ns, counts;

	usleep(CALIBRATE_US);
	ns = now_ns() - begin_ns;
	counts = counter_read() - begin;
	return counts * 1000000000u / ns;
}

/* False when a board cannot be had. */
static bool start_boards(const struct recorded_peer *peer, const char *dir)
{
	uint64_t counter_hz = find_counter_hz();
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	for (unsigned i = 0; i < peer->options.boards; i++) {
		struct recorded_board *board = recorded_board_new(peer, i, dir, counter_hz);
		pthread_t thread;

		if (!board || pthread_create(&thread, &attributes, recorded_board_run, board) != 0)
			return false;
	}
	return true;
}

static void serve(const struct recorded_peer *peer, const char *dir, int ready, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Bytes have their times to some microseconds. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (getppid() != parent || !start_boards(peer, dir) || write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

void recorded_peer_start(struct recorded_peer *peer, const struct recording *recording,
	const char *dir, const struct recorded_options *options)
{
	pid_t parent = getpid();
	int ends[2];
	char byte;

	ck_assert_uint_le(options->boards, RECORDED_BOARDS_MAX);
	*peer = (struct recorded_peer){.recording = recording, .options = *options};
	if (peer->options.byte_ns == 0)
		peer->options.byte_ns = BYTE_NS;
	if (!peer->options.platform)
		peer->options.platform = "recorded,riscv-virtio";
	peer->shared = mmap(NULL, sizeof(*peer->shared), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(peer->shared, MAP_FAILED);
	ck_assert_int_eq(pipe(ends), 0);
	peer->pid = fork();
	ck_assert_int_ge(peer->pid, 0);
	if (peer->pid == 0) {
		close(ends[0]);
		serve(peer, dir, ends[1], parent);
	}
	close(ends[1]);
	ck_assert_msg(read(ends[0], &byte, 1) == 1, "the recorded boards did not start");
	close(ends[0]);
}

void recorded_peer_stop(struct recorded_peer *peer)
{
	int status;

	ck_assert_int_eq(kill(peer->pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(peer->pid, &status, 0), peer->pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		"the recorded boards ended with %#x", (unsigned)status);
	munmap(peer->shared, sizeof(*peer->shared));
}
