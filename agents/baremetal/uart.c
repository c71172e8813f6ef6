/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/uart.h"

#include "agents/baremetal/cpu.h"

#define UART_DATA 0u
#define UART_IER  1u
#define UART_IIR  2u
#define UART_FCR  2u
#define UART_LCR  3u
#define UART_LSR  5u
#define UART_USR  31u /* Synopsys only */
#define UART_DLL  0u  /* while the latch is open */
#define UART_DLM  1u

#define UART_IER_RECEIVED   0x01u
#define UART_FCR_ENABLE	    0x01u
#define UART_IIR_MASK	    0x0Fu
#define UART_IIR_BUSY	    0x07u
#define UART_LSR_READY	    0x01u
#define UART_LSR_OVERRUN    0x02u
#define UART_LSR_FIFO_EMPTY 0x20u
#define UART_LSR_ALL_EMPTY  0x40u
#define UART_LCR_LATCH	    0x80u
#define UART_USR_BUSY	    0x01u
#define UART_FIFO_SIZE	    16u
#define UART_BUSY_TRIES	    1000000u

static struct {
	uintptr_t base;
	unsigned int shift;
	volatile uint32_t head; /* where the interrupt writes */
	volatile uint32_t tail; /* where the main loop reads */
	struct uart_counts counts;
	volatile uint8_t ring[UART_RING_SIZE];
} uart;

/* Byte-wide registers four bytes apart want word access on the D1. */
static uint32_t uart_get(unsigned int index)
{
	uint8_t value;

	if (uart.shift == 2)
		return cpu_read_register(uart.base + (index << 2));
	value = *(volatile uint8_t *)(uart.base + index);
	__asm__ volatile("fence i, ir" ::: "memory");
	return value;
}

static void uart_set(unsigned int index, uint32_t value)
{
	if (uart.shift == 2) {
		cpu_write_register(uart.base + (index << 2), value);
		return;
	}
	__asm__ volatile("fence w, o" ::: "memory");
	*(volatile uint8_t *)(uart.base + index) = (uint8_t)value;
}

/* Reading the status clears its error bits, so every reading has to count them. */
static uint32_t uart_get_status(void)
{
	uint32_t status = uart_get(UART_LSR);

	if (status & UART_LSR_OVERRUN)
		uart.counts.overruns++;
	return status;
}

void uart_init(uintptr_t base, unsigned int shift)
{
	uart.base = base;
	uart.shift = shift;
	uart_set(UART_FCR, UART_FCR_ENABLE);
	uart_set(UART_IER, UART_IER_RECEIVED);
}

size_t uart_read(uint8_t *data, size_t capacity)
{
	size_t size = 0;

	while (size < capacity && uart.tail != uart.head) {
		data[size++] = uart.ring[uart.tail % UART_RING_SIZE];
		uart.tail = uart.tail + 1;
	}
	return size;
}

void uart_write(const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		while (!(uart_get_status() & UART_LSR_FIFO_EMPTY))
			;
		for (unsigned int i = 0; i < UART_FIFO_SIZE && at < size; i++)
			uart_set(UART_DATA, data[at++]);
	}
	while (!(uart_get_status() & UART_LSR_ALL_EMPTY))
		;
	uart.counts.sent += size;
}

/* Synopsys' UART ignores a write to the line control while it is busy. */
static void uart_wait_idle(void)
{
	if (uart.shift != 2)
		return;
	for (uint32_t i = 0; i < UART_BUSY_TRIES && uart_get(UART_USR) & UART_USR_BUSY; i++)
		;
}

static uint32_t uart_exchange_divisor(uint32_t divisor)
{
	uint32_t control = uart_get(UART_LCR) & ~UART_LCR_LATCH;
	uint32_t found;

	uart_wait_idle();
	uart_set(UART_LCR, control | UART_LCR_LATCH);
	if (divisor) {
		uart_set(UART_DLL, divisor & 0xff);
		uart_set(UART_DLM, divisor >> 8 & 0xff);
	}
	found = (uart_get(UART_DLL) & 0xff) | (uart_get(UART_DLM) & 0xff) << 8;
	uart_wait_idle();
	uart_set(UART_LCR, control);
	return found;
}

/* With interrupts open the handler would read the latch for data. */
uint32_t uart_get_divisor(void)
{
	uint32_t divisor;

	cpu_close_interrupts();
	divisor = uart_exchange_divisor(0);
	cpu_open_interrupts();
	return divisor;
}

int uart_set_divisor(uint32_t divisor)
{
	uint32_t found;

	cpu_close_interrupts();
	found = uart_exchange_divisor(divisor);
	cpu_open_interrupts();
	return found == divisor ? 0 : -1;
}

void uart_handle_interrupt(void)
{
	/* Synopsys' "busy detect" is cleared by reading its own status register. */
	if (uart.shift == 2 && (uart_get(UART_IIR) & UART_IIR_MASK) == UART_IIR_BUSY)
		uart_get(UART_USR);
	while (uart_get_status() & UART_LSR_READY) {
		uint8_t byte = (uint8_t)uart_get(UART_DATA);

		uart.counts.received++;
		if (uart.head - uart.tail >= UART_RING_SIZE) {
			uart.counts.overruns++;
			continue;
		}
		uart.ring[uart.head % UART_RING_SIZE] = byte;
		uart.head = uart.head + 1;
	}
}

struct uart_counts uart_get_counts(void)
{
	struct uart_counts counts;

	cpu_close_interrupts();
	counts = uart.counts;
	cpu_open_interrupts();
	return counts;
}
