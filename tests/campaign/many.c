/* SPDX-License-Identifier: Apache-2.0 */
/*
 * campaign-many: CAMPAIGN_BOARDS (64) recorded boards pulled at 115200 baud at
 * the same time through one daemon.  Prints what it cost and what was lost.
 * Exit code 1 when anything was lost, or when daemon and workers together took
 * more than one core while all boards were pulled.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/many_rig.h"

#define WINDOWS	   3
#define SAMPLES	   100000
#define CHUNK_SIZE 62 /* an FTDI adapter's */

static unsigned get_number(const char *name, unsigned fallback)
{
	const char *text = getenv(name);

	return text && *text ? (unsigned)strtoul(text, NULL, 10) : fallback;
}

static double print_pull(unsigned number, const struct many_pull *p)
{
	double cores = (p->daemon_s + p->workers_s) / p->wall_s;

	printf("pull %u: %5.1f s, %4.0f KB/s; cores: %.2f (sameboardd %.2f, its workers %.2f); "
	       "beside it boards %.2f, whole machine %.2f\n",
		number + 1, p->wall_s, p->bytes / p->wall_s / 1e3, cores, p->daemon_s / p->wall_s,
		p->workers_s / p->wall_s, p->peer_s / p->wall_s, p->machine_s / p->wall_s);
	fflush(stdout);
	return cores;
}

static void print_result(const struct many_result *r, const struct many_memory *m, unsigned windows)
{
	printf("memory: sameboardd at most %.1f MiB; a worker at most %.1f MiB, all workers "
	       "%.1f MiB\n",
		(double)m->daemon_kb / 1024, (double)m->worker_kb / 1024,
		(double)m->workers_kb / 1024);
	printf("from the first job to the last: %.1f s, %.1f s of processor time\n", r->wall_s,
		r->total_s);
	printf("%u of %u windows committed with every sample as it was sent; runs: %u pass, "
	       "%u invalid\n",
		r->windows, windows, r->passed, r->invalid);
	printf("%llu bytes sent, %llu lost at the ports, %llu missing in the logs; %u frames "
	       "damaged, %u requests repeated\n",
		r->sent, r->refused, r->missing, r->damaged, r->retries);
	fflush(stdout);
}

START_TEST(many_boards_at_once)
{
	const struct many_config config = {
		.peer = {.boards = get_number("CAMPAIGN_BOARDS", 64),
			.chunk_size = get_number("CAMPAIGN_CHUNK", CHUNK_SIZE)},
		.windows = WINDOWS,
		.n = SAMPLES,
	};
	unsigned windows = config.peer.boards * config.windows;
	struct many_memory memory = {0};
	struct many_result result;
	struct many_rig rig;
	double most = 0;

	printf("%u boards, %u windows of %u samples each, %u bytes a chunk\n", config.peer.boards,
		windows, config.n, config.peer.chunk_size);
	many_rig_start(&rig, &config);
	many_rig_submit(&rig);
	for (unsigned i = 0; i < config.windows; i++) {
		struct many_pull pull;
		double cores;

		many_rig_watch_pull(&rig, i, &pull, &memory);
		cores = print_pull(i, &pull);
		most = cores > most ? cores : most;
	}
	many_rig_finish(&rig, &result);
	print_result(&result, &memory, windows);
	many_rig_stop(&rig);
	ck_assert_msg(!result.wrong[0], "%s", result.wrong);
	ck_assert_uint_eq(result.windows, windows);
	ck_assert_uint_eq(result.refused, 0);
	ck_assert_uint_eq(result.missing, 0);
	ck_assert_msg(most < 1, "%.2f cores", most);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("campaign_many");
	TCase *tcase = tcase_create("many");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 1800);
	tcase_add_test(tcase, many_boards_at_once);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
