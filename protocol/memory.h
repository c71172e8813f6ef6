/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three functions of <string.h> that code for a target may use. A
 * freestanding toolchain need not have the header; every port has these.
 */
#ifndef PROTOCOL_MEMORY_H
#define PROTOCOL_MEMORY_H

#if __STDC_HOSTED__
#include <string.h>
#else
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
#endif

#endif
