/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The splitmix64 generator (S. Vigna, public domain). */
static uint64_t fault_draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static bool fault_parse_rate(struct fault_rate *rate, const char *value)
{
	char *end;

	if (!value)
		return false;
	rate->probability = strtod(value, &end);
	rate->from_frame = strcmp(end, "@frame") == 0;
	return end != value && (*end == '\0' || rate->from_frame) && rate->probability >= 0 &&
	       rate->probability <= 1;
}

static bool fault_parse_seconds(double *seconds, const char *value)
{
	char *end;

	if (!value)
		return false;
	*seconds = strtod(value, &end);
	return end != value && *end == '\0' && *seconds > 0 && *seconds < 1e6;
}

static bool fault_parse_noise(struct fault_plan *plan, const char *value)
{
	return fault_parse_rate(&plan->noise, value);
}

static bool fault_parse_drop(struct fault_plan *plan, const char *value)
{
	return fault_parse_rate(&plan->drop, value);
}

static bool fault_parse_reset_after(struct fault_plan *plan, const char *value)
{
	return fault_parse_seconds(&plan->reset_after_s, value);
}

static bool fault_parse_reset_in_window(struct fault_plan *plan, const char *value)
{
	return fault_parse_seconds(&plan->reset_in_window_s, value);
}

static bool fault_parse_bounce(struct fault_plan *plan, const char *value)
{
	plan->bounces = true;
	return !value;
}

static bool fault_parse_number(unsigned *number, const char *value, unsigned max)
{
	char *end;
	unsigned long parsed;

	if (!value || *value < '0' || *value > '9')
		return false;
	parsed = strtoul(value, &end, 10);
	*number = (unsigned)parsed;
	return *end == '\0' && parsed >= 1 && parsed <= max;
}

static bool fault_parse_usb_latency(struct fault_plan *plan, const char *value)
{
	plan->usb_chunk_bytes = FAULT_USB_CHUNK_BYTES;
	return fault_parse_number(&plan->usb_latency_ms, value, 1000);
}

/* "usb-latency=16,chunk=62" is two items of the list; the second belongs to the first. */
static bool fault_parse_chunk(struct fault_plan *plan, const char *value)
{
	return plan->usb_latency_ms &&
	       fault_parse_number(&plan->usb_chunk_bytes, value, FAULT_USB_CHUNK_MAX);
}

static bool fault_parse_hang(struct fault_plan *plan, const char *value)
{
	plan->hangs_uboot = true;
	return value && strcmp(value, "uboot") == 0;
}

static bool fault_parse_no_card(struct fault_plan *plan, const char *value)
{
	plan->card = value ? FAULT_CARD_HOST : FAULT_CARD_DUT;
	return !value || strcmp(value, "host") == 0;
}

static bool fault_parse_stuck_relay(struct fault_plan *plan, const char *value)
{
	plan->relay = value ? FAULT_RELAY_CLOSED : FAULT_RELAY_OPEN;
	return !value || strcmp(value, "on") == 0;
}

static bool fault_parse_cut(struct fault_plan *plan, const char *value)
{
	return value && strncmp(value, "uart@", 5) == 0 &&
	       fault_parse_seconds(&plan->cut_uart_s, value + 5);
}

static bool fault_parse_eat(struct fault_plan *plan, const char *value)
{
	char *end = NULL;
	unsigned long bytes = value ? strtoul(value, &end, 10) : 0;

	plan->eaten_bytes = (unsigned)bytes;
	return bytes >= 1 && bytes <= 65536 && !*end;
}

static const struct fault_kind {
	const char *name;
	bool (*parse)(struct fault_plan *plan, const char *value);
	struct fault_help help;
} fault_kinds[] = {
	{"noise", fault_parse_noise,
		{"noise=P[@frame]", "flip each bit on the UART with probability P"}},
	{"drop", fault_parse_drop, {"drop=P[@frame]", "lose each byte with probability P"}},
	{"eat", fault_parse_eat, {"eat=N", "lose the first N bytes of each power-on"}},
	{"reset-after", fault_parse_reset_after,
		{"reset-after=S", "reset the board once, S seconds after each power-on"}},
	{"reset-in-window", fault_parse_reset_in_window,
		{"reset-in-window=S",
			"reset it once, S seconds after a byte of the host that nothing answers"}},
	{"bounce", fault_parse_bounce,
		{"bounce", "power flickers when it is switched on: the first banner comes twice"}},
	{"usb-latency", fault_parse_usb_latency,
		{"usb-latency=MS", "the console's adapter holds bytes back for up to MS ms"}},
	{"chunk", fault_parse_chunk,
		{"chunk=B", "after usb-latency: but never more than B bytes (default 62)"}},
	{"hang", fault_parse_hang, {"hang=uboot", "the loader stops after its banner"}},
	{"no-card", fault_parse_no_card,
		{"no-card[=host]", "the board (or the host) finds no card in the mux"}},
	{"stuck-relay", fault_parse_stuck_relay,
		{"stuck-relay[=on]", "the relay answers, but never switches on (or never off)"}},
	{"cut", fault_parse_cut,
		{"cut=uart@S", "the UART's wires break S seconds after each power-on"}},
};

#define FAULT_KINDS (sizeof(fault_kinds) / sizeof(fault_kinds[0]))

const struct fault_help *fault_get_help(unsigned index)
{
	return index < FAULT_KINDS ? &fault_kinds[index].help : NULL;
}

static int fault_refuse(const char *item, const char *what, char *error, size_t error_size)
{
	size_t used = (size_t)snprintf(error, error_size, "%s fault '%s'; known are:", what, item);

	for (unsigned i = 0; i < FAULT_KINDS && used < error_size; i++)
		used += (size_t)snprintf(
			error + used, error_size - used, " %s", fault_kinds[i].help.form);
	return -EINVAL;
}

static int fault_parse_item(struct fault_plan *plan, char *item, char *error, size_t error_size)
{
	size_t name_length = strcspn(item, "=");
	const char *value = item[name_length] ? item + name_length + 1 : NULL;

	for (unsigned i = 0; i < FAULT_KINDS; i++) {
		const struct fault_kind *kind = &fault_kinds[i];
		if (strlen(kind->name) != name_length || strncmp(kind->name, item, name_length))
			continue;
		if (!kind->parse(plan, value))
			return fault_refuse(item, "bad value in", error, error_size);
		return 0;
	}
	return fault_refuse(item, "unknown", error, error_size);
}

int fault_parse(struct fault_plan *plan, const char *list, char *error, size_t error_size)
{
	char items[512];
	char *rest = NULL;
	int result = 0;

	if (strlen(list) >= sizeof(items))
		return fault_refuse("...", "too long a list with", error, error_size);
	strcpy(items, list);
	for (char *item = strtok_r(items, ",", &rest); item && !result;
		item = strtok_r(NULL, ",", &rest))
		result = fault_parse_item(plan, item, error, error_size);
	return result;
}

static uint64_t fault_limit(double probability)
{
	return probability >= 1 ? UINT64_MAX : (uint64_t)(probability * 18446744073709551616.0);
}

static uint64_t fault_seed(const struct fault_plan *plan, unsigned power_on, unsigned stream)
{
	uint64_t state = plan->seed;

	state = fault_draw(&state) ^ power_on;
	state = fault_draw(&state) ^ stream;
	return fault_draw(&state);
}

void fault_stream_start(struct fault_stream *stream, const struct fault_plan *plan,
	unsigned power_on, unsigned direction)
{
	stream->plan = plan;
	stream->is_armed = false;
	stream->eats = direction == 0 ? plan->eaten_bytes : 0;
	stream->noise_limit = plan->noise.from_frame ? 0 : fault_limit(plan->noise.probability);
	stream->drop_limit = plan->drop.from_frame ? 0 : fault_limit(plan->drop.probability);
	stream->noise_state = fault_seed(plan, power_on, direction * 4);
	stream->drop_state = fault_seed(plan, power_on, direction * 4 + 1);
	stream->garble_state = fault_seed(plan, power_on, direction * 4 + 2);
}

void fault_stream_arm(struct fault_stream *stream)
{
	if (stream->is_armed)
		return;
	stream->is_armed = true;
	stream->noise_limit = fault_limit(stream->plan->noise.probability);
	stream->drop_limit = fault_limit(stream->plan->drop.probability);
}

bool fault_stream_pass(struct fault_stream *stream, uint8_t *byte)
{
	bool is_lost = false;

	/* A flipped start bit loses the byte; a flipped stop bit is only a framing error. */
	if (stream->noise_limit) {
		for (unsigned bit = 0; bit < 10; bit++) {
			if (fault_draw(&stream->noise_state) >= stream->noise_limit)
				continue;
			stream->flipped_bits++;
			if (bit == 0)
				is_lost = true;
			else if (bit <= 8)
				*byte = (uint8_t)(*byte ^ (1u << (bit - 1)));
		}
	}
	if (stream->drop_limit && fault_draw(&stream->drop_state) < stream->drop_limit)
		is_lost = true;
	if (stream->eats) {
		stream->eats--;
		is_lost = true;
	}
	if (is_lost)
		stream->dropped_bytes++;
	return !is_lost;
}

uint8_t fault_stream_garble(struct fault_stream *stream, uint8_t byte)
{
	return (uint8_t)(byte ^ (1 + fault_draw(&stream->garble_state) % 255));
}
