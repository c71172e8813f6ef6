/* SPDX-License-Identifier: Apache-2.0 */
/* Time exchange over the simulated line, with adapters that hold bytes back. */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness/clockfit.h"
#include "tests/peer_rig.h"
#include "tests/vectors.h"

#define EXCHANGES  16
#define COUNTER_HZ 24000000u

/* Latency of the adapter in ms; what the fit must reach at least, over 30 s. */
static const struct {
	unsigned int timer_ms;
	double ppm_uncertainty, host_uncertainty_us;
} adapters[] = {
	{0, 10, 150},
	{1, 30, 450},
	{2, 30, 450},
	{4, 30, 450},
	{8, 30, 450},
	{16, 30, 450},
};

static const double drifts[] = {0, 41.7, -100, 500};

static void exchange(struct clockfit_exchange *to)
{
	struct peer_exchange from;

	PEER_OK(peer_ping(&peer_rig.peer, &from));
	*to = (struct clockfit_exchange){
		.host_sent_us = from.host_sent_us,
		.host_received_us = from.host_received_us,
		.target_received = from.pong.received,
		.target_sent = from.pong.sent,
		.out_us = from.out_us,
		.back_us = from.back_us,
	};
}

static void exchange_some(struct clockfit_exchange *exchanges)
{
	for (int i = 0; i < EXCHANGES; i++) {
		exchange(&exchanges[i]);
		ck_assert_int_eq(peer_poll(&peer_rig.peer, i * 7 % 17), 0);
	}
}

START_TEST(the_truth_lies_within_the_uncertainty_for_every_adapter)
{
	double drift = drifts[(size_t)_i % 4];
	size_t adapter = (size_t)_i / 4;
	struct clockfit_exchange exchanges[2 * EXCHANGES];
	struct clockfit_time time;
	double true_us;

	peer_rig_open(1, false);
	peer_rig.model.counter_ppm = drift;
	peer_rig.line.timer_ns = adapters[adapter].timer_ms * 1000000ull;
	peer_rig_open_session();
	exchange_some(exchanges);
	ck_assert_int_eq(peer_poll(&peer_rig.peer, 30000), 0);
	exchange_some(exchanges + EXCHANGES);
	ck_assert_int_eq(clockfit_time(exchanges, 2 * EXCHANGES, COUNTER_HZ, &time), 0);
	ck_assert_double_le(fabs(time.ppm - drift), time.ppm_uncertainty);
	true_us = (double)time.counter / 24 / (1 + drift * 1e-6);
	ck_assert_double_le(fabs(time.host_us - true_us), time.host_uncertainty_us);
	ck_assert_double_ge(time.span_s, 30);
	ck_assert_msg(time.ppm_uncertainty <= adapters[adapter].ppm_uncertainty,
		"%u ms: +-%.1f ppm", adapters[adapter].timer_ms, time.ppm_uncertainty);
	ck_assert_msg(time.host_uncertainty_us <= adapters[adapter].host_uncertainty_us,
		"%u ms: +-%.0f us", adapters[adapter].timer_ms, time.host_uncertainty_us);
	peer_rig_close();
}
END_TEST

/* Any delay at all on either way, independent of the other: never outside. */
START_TEST(no_delay_deceives_it)
{
	uint64_t random = (uint64_t)_i + 1;
	double drift = (double)(vectors_random(&random) % 2000) - 1000;
	unsigned int worst_us = 1 + vectors_random(&random) % 50000;
	struct clockfit_exchange exchanges[EXCHANGES];
	struct clockfit_time time;
	double now_us = 1e9, rate = 24 * (1 + drift * 1e-6);

	for (int i = 0; i < EXCHANGES; i++) {
		struct clockfit_exchange *one = &exchanges[i];

		memset(one, 0, sizeof(*one));
		now_us += 1e6;
		one->host_sent_us = (uint64_t)now_us;
		now_us += vectors_random(&random) % worst_us;
		one->target_received = (uint64_t)(now_us * rate);
		now_us += vectors_random(&random) % 300;
		one->target_sent = (uint64_t)(now_us * rate);
		now_us += vectors_random(&random) % worst_us;
		one->host_received_us = (uint64_t)now_us;
	}
	ck_assert_int_eq(clockfit_time(exchanges, EXCHANGES, COUNTER_HZ, &time), 0);
	ck_assert_double_le(fabs(time.ppm - drift), time.ppm_uncertainty);
	ck_assert_double_le(
		fabs(time.host_us - (double)time.counter / rate), time.host_uncertainty_us);
	/* And it is no excuse: not wider than the two worst round trips. */
	ck_assert_double_le(time.ppm_uncertainty, (2.0 * worst_us + 400) / 14e6 * 1e6);
}
END_TEST

START_TEST(a_clock_that_jumps_is_not_called_steady)
{
	struct clockfit_exchange exchanges[3] = {
		{1000000, 1001000, 24012000, 24012000, 0, 0},
		{2000000, 2001000, 48012000, 48012000, 0, 0},
		{3000000, 3001000, 72012000 + 480000, 72012000 + 480000, 0, 0},
	};
	struct clockfit_time time;

	ck_assert_int_eq(clockfit_time(exchanges, 3, COUNTER_HZ, &time), -EDOM);
	ck_assert_int_eq(clockfit_time(exchanges, 2, COUNTER_HZ, &time), 0);
	ck_assert_int_eq(clockfit_time(exchanges, 1, COUNTER_HZ, &time), -EINVAL);
	ck_assert_int_eq(clockfit_time(exchanges, 2, 0, &time), -EINVAL);
	exchanges[1].target_sent = 0;
	ck_assert_int_eq(clockfit_time(exchanges, 2, COUNTER_HZ, &time), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clockfit_time");
	TCase *tcase = tcase_create("clockfit_time");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, the_truth_lies_within_the_uncertainty_for_every_adapter, 0,
		(int)(4 * sizeof(adapters) / sizeof(adapters[0])));
	tcase_add_loop_test(tcase, no_delay_deceives_it, 0, 100);
	tcase_add_test(tcase, a_clock_that_jumps_is_not_called_steady);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
