/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console's 16550: received bytes come by interrupt into a ring, sending
 * polls.  Line format and baud rate stay as the loader left them until
 * uart_set_divisor().  Read and
 * write belong to the main loop; uart_write() may also come from an interrupt
 * and then cuts into what was being sent, as any system's console does.
 */
#ifndef AGENTS_BAREMETAL_UART_H
#define AGENTS_BAREMETAL_UART_H

#include <stddef.h>
#include <stdint.h>

#define UART_RING_SIZE 1024u

/* Since the start: the ring drops what does not fit and counts it. */
struct uart_counts {
	uint64_t received;
	uint64_t sent;
	uint64_t overruns; /* the UART's own, and bytes that the ring had no room for */
};

void uart_init(uintptr_t base, unsigned int shift);

/* All that has been received, at most capacity bytes; the number, 0 when none. */
size_t uart_read(uint8_t *data, size_t capacity);

/* Sends all bytes, then waits until FIFO and shift register are empty. */
void uart_write(const uint8_t *data, size_t size);

/* The rate is the UART's clock / 16 / divisor; 0 when none is set. */
uint32_t uart_get_divisor(void);

/* When all that was sent has left; what is half received is lost.  0, or -1 when the UART
 * kept its old divisor. */
int uart_set_divisor(uint32_t divisor);

/* Empties the receiver into the ring. */
void uart_handle_interrupt(void);

/* One consistent reading of the counts. */
struct uart_counts uart_get_counts(void);

#endif
