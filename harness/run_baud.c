/* SPDX-License-Identifier: Apache-2.0 */
/* The line raised for large pulls, where the lab file allows it. */
#include <errno.h>

#include "harness/log.h"
#include "harness/rates.h"
#include "harness/run_internal.h"

#define WORTH_RAISING_BYTES 16384u /* less is through sooner than the switching */

static int64_t now_s(void)
{
	return store_now_ms() / 1000;
}

static void remember(struct run *run, uint32_t baud, bool is_good)
{
	const struct link_config *port = &run->request->board->config->console;

	if (rates_set(port, baud, is_good, now_s()) != 0)
		run_event(run, "warning", "cannot note that %u baud is %s", baud,
			is_good ? "proven" : "no good");
	run_event(run, "rate", "%u baud %s", baud, is_good ? "proven by 64 KiB" : "does not work");
}

/* 0 with the rates, or 0 and none where the target has only one. */
static int query(struct run *run)
{
	int rc;

	if (run->has_rates)
		return 0;
	rc = peer_query_rates(&run->peer, &run->rates);
	run->has_rates = rc == 0 || rc == -EREMOTEIO;
	if (rc == -EREMOTEIO)
		run_event(run, "rate", "the console's rate is fixed: %s", peer_error(&run->peer));
	return run->has_rates ? 0 : rc;
}

/* 0: raised; -ECOMM: this rate does not work, and the line is as it was. */
static int try_rate(struct run *run, uint32_t baud, bool is_proven)
{
	int rc = peer_raise(&run->peer, baud);

	if (rc == 0 && !is_proven) {
		rc = peer_prove_rate(&run->peer);
		if (rc == 0)
			remember(run, baud, true);
		else if (rc == -EBADMSG || rc == -ETIMEDOUT || rc == -EPROTO)
			rc = peer_lower(&run->peer) == 0 ? -ECOMM : -ETIMEDOUT;
	}
	if (rc == -ECOMM)
		remember(run, baud, false);
	return rc;
}

int run_raise_line(struct run *run, uint64_t bytes)
{
	const struct lab_board *config = run->request->board->config;
	uint32_t list[PEER_RATES_MAX];
	size_t count;
	int rc;

	/* In repeatable time the board has no rate but its first. */
	if (run_is_icount(run) || config->max_baud == 0 || bytes < WORTH_RAISING_BYTES ||
		run->is_raise_off)
		return 0;
	rc = query(run);
	count = rc == 0 ? peer_list_rates(&run->rates, config->max_baud, list) : 0;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		enum rates_state state = rates_get(&config->console, list[i], now_s());

		if (state == RATES_BAD)
			continue;
		rc = try_rate(run, list[i], state == RATES_GOOD);
		if (rc != -ECOMM)
			break;
		rc = 0;
	}
	if (rc == 0 && !peer_is_raised(&run->peer))
		run->is_raise_off = true;
	return rc;
}

int run_lower_line(struct run *run)
{
	return peer_lower(&run->peer);
}

int run_pull(struct run *run, struct peer_transfer *transfer)
{
	bool is_raised = peer_is_raised(&run->peer);
	int rc = peer_pull(&run->peer, transfer);

	if (!is_raised || (rc != -ETIMEDOUT && rc != -EBADMSG))
		return rc;
	run_event(run, "rate", "given up for this run: %s", peer_error(&run->peer));
	run->is_raise_off = true;
	rc = peer_lower(&run->peer);
	return rc != 0 ? rc : peer_pull(&run->peer, transfer);
}
