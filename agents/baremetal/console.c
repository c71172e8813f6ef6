/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/console.h"

#include "agents/baremetal/cpu.h"
#include "agents/baremetal/sbi.h"
#include "agents/baremetal/uart.h"

static int uart_is_open;
static volatile uint64_t line_count;

static void console_put(const char *data, size_t size)
{
	if (uart_is_open) {
		uart_write((const uint8_t *)data, size);
		return;
	}
	for (size_t i = 0; i < size; i++)
		sbi_put_character(data[i]);
}

void console_use_uart(void)
{
	uart_is_open = 1;
}

void console_say(const struct text *text)
{
	line_count = line_count + 1;
	console_put(text->data, text->size);
	console_put("\r\n", 2);
}

uint64_t console_count_lines(void)
{
	return line_count;
}

_Noreturn void console_halt(const char *why)
{
	char line[CONSOLE_LINE_MAX];
	struct text text;

	cpu_close_interrupts();
	text_init(&text, line, sizeof(line));
	text_append(&text, why);
	console_say(&text);
	cpu_disable_source(~0ul);
	for (;;)
		cpu_wait();
}
