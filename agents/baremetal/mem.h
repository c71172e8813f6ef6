/* SPDX-License-Identifier: Apache-2.0 */
/* The four functions of <string.h> that exist here. */
#ifndef AGENTS_BAREMETAL_MEM_H
#define AGENTS_BAREMETAL_MEM_H

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);
int memcmp(const void *left, const void *right, size_t size);

#endif
