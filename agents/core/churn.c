/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/churn.h"

#include "agents/core/agent.h"

#define LINE_BYTES	64u
#define CACHE_DEFAULT	32768u
#define PAGE_DEFAULT	4096u
#define TIMES_THE_CACHE 2u

/* A jump of one line forward, and a return. */
#if defined(__riscv)
static const uint8_t jump[] = {0x6f, 0x00, 0x00, 0x04};
static const uint8_t leave[] = {0x67, 0x80, 0x00, 0x00};
#elif defined(__aarch64__)
static const uint8_t jump[] = {0x10, 0x00, 0x00, 0x14};
static const uint8_t leave[] = {0xc0, 0x03, 0x5f, 0xd6};
#elif defined(__x86_64__)
static const uint8_t jump[] = {0xe9, 0x3b, 0x00, 0x00, 0x00};
static const uint8_t leave[] = {0xc3};
#else
#error "no jump known for this processor"
#endif

static void flush_code(uint8_t *code, uint32_t bytes)
{
#if defined(__riscv)
	(void)code;
	(void)bytes;
	__asm__ volatile("fence.i" ::: "memory");
#elif defined(__aarch64__)
	__builtin___clear_cache((char *)code, (char *)code + bytes);
#else
	/* Kept equal to memory by the processor itself. */
	(void)code;
	(void)bytes;
#endif
}

static void put_code(uint8_t *at, const uint8_t *code, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = code[i];
}

/* One jump a line; the last line returns. */
static void write_code(uint8_t *code, uint32_t bytes)
{
	uint32_t last = bytes / LINE_BYTES - 1;

	for (uint32_t line = 0; line < last; line++)
		put_code(code + line * LINE_BYTES, jump, sizeof(jump));
	put_code(code + last * LINE_BYTES, leave, sizeof(leave));
	flush_code(code, bytes);
}

static uint32_t least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

int churn_init(struct churn *churn, struct window *window)
{
	const struct agent_port *port = window->port;
	const struct agent_caches *caches = &port->caches;
	uint32_t code = TIMES_THE_CACHE * (caches->code ? caches->code : CACHE_DEFAULT);
	size_t half = (window->arena->size - window->arena->used) / 2;
	size_t bytes;

	churn->page_bytes = caches->page ? caches->page : PAGE_DEFAULT;
	churn->pages = least(CHURN_PAGES_MAX, half / churn->page_bytes);
	bytes = (size_t)churn->pages * churn->page_bytes;
	churn->data_bytes =
		least(TIMES_THE_CACHE * (caches->data ? caches->data : CACHE_DEFAULT), bytes);
	churn->data = churn->pages ? arena_take(window->arena, bytes) : NULL;
	if (!churn->data)
		return WIRE_ERROR_NO_MEMORY;
	churn->code = port->code;
	churn->code_bytes = port->code ? least(code, port->code_size) : 0;
	churn->code_bytes -= churn->code_bytes % LINE_BYTES;
	if (churn->code_bytes)
		write_code(port->code, churn->code_bytes);
	churn->value = 0;
	return 0;
}

void churn_dirty(struct churn *churn)
{
	volatile uint8_t *data = churn->data;
	uint8_t value = ++churn->value;

	for (uint32_t page = 0; page < churn->pages; page++)
		data[(size_t)page * churn->page_bytes] = value;
	for (uint32_t at = 0; at < churn->data_bytes; at += LINE_BYTES)
		data[at] = value;
	flush_code((uint8_t *)(uintptr_t)churn->code, churn->code_bytes);
	if (churn->code_bytes)
		((void (*)(void))(uintptr_t)churn->code)();
}

void churn_write(const struct churn *churn, struct text *text)
{
	text_put_u64s(text, "dirty_data_bytes dirty_code_bytes dirty_pages",
		(const uint64_t[]){churn->data_bytes, churn->code_bytes, churn->pages});
}
