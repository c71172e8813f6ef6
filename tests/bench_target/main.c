/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What packing a series costs the target, in instructions: alone in M-mode on
 * QEMU's virt machine under -icount shift=0, where minstret is exact.  Prints
 * one line of JSON on the UART and switches the machine off.
 */
#include <stdint.h>

#include "agents/core/pack.h"
#include "protocol/series.h"

#define UART  ((volatile uint8_t *)0x10000000)
#define POWER ((volatile uint32_t *)0x100000)
#define OFF   0x5555u

static const int32_t samples[] = {
#include "bench_samples.inc"
};

#define COUNT (sizeof(samples) / sizeof(samples[0]))

static int32_t memory[COUNT];
static uint8_t spare[sizeof(memory)];
static struct codec_model model;

int main(void);

static uint64_t read_instret(void)
{
	uint64_t value;

	__asm__ volatile("csrr %0, minstret" : "=r"(value));
	return value;
}

static void put_text(const char *text)
{
	for (; *text; text++)
		*UART = (uint8_t)*text;
}

static void put_number(uint64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits) - 1;

	*at = '\0';
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	put_text(at);
}

int main(void)
{
	struct window_series series = {
		.kind = SERIES_KIND_COUNTS,
		.count = COUNT,
		.capacity = COUNT,
		.data = memory,
	};
	uint64_t instructions;

	for (uint32_t i = 0; i < COUNT; i++)
		memory[i] = samples[i];
	instructions = read_instret();
	pack_series(&series, &model, spare, sizeof(spare));
	instructions = read_instret() - instructions;
	put_text("{\"samples\":");
	put_number(COUNT);
	put_text(",\"bytes\":");
	put_number(series.encoded_size);
	put_text(",\"instructions\":");
	put_number(instructions);
	put_text(",\"per_sample\":");
	put_number(instructions / COUNT);
	put_text("}\n");
	*POWER = OFF;
	return 0;
}
