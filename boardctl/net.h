/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARDCTL_NET_H
#define BOARDCTL_NET_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What link drivers over TCP have in common: a non-blocking socket. 0 or a
 * count, else a negative errno; a connection that is gone is always -ENODEV.
 */

/*
 * Split "HOST:PORT" ("[::1]:2000" too) into host[host_size] and port[port_size].
 * 0 or -EINVAL.
 */
int net_split_address(
	const char *address, char *host, size_t host_size, char *port, size_t port_size);

/*
 * Connect within timeout_ms, trying each address of the name, with small
 * segments sent at once and dead peers noticed after about 15 s. The descriptor
 * (close it), or a negative errno with a text in error[error_size].
 */
int net_connect(const char *address, unsigned timeout_ms, char *error, size_t error_size);

/* Bytes, or 0 after timeout_ms without any. */
ssize_t net_read(int fd, void *buffer, size_t size, unsigned timeout_ms);

/* All of it, or -ETIMEDOUT when nothing moved for timeout_ms. */
int net_write(int fd, const void *data, size_t size, unsigned timeout_ms);

/* Until the other end's kernel has all that was written, at most timeout_ms. */
int net_drain(int fd, unsigned timeout_ms);

/* Throw away what has come. */
int net_flush_input(int fd);

#endif
