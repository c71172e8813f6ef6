/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's device tree with another clock of the UART: QEMU says 3,686,400 Hz, and 24 MHz
 * gives the rates of the real board. Devicetree specification, "Flattened Devicetree (DTB) Format".
 */
#ifndef VBOARD_TREE_H
#define VBOARD_TREE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sets clock-frequency of the first serial node in place; 0, or -EINVAL when the blob is no tree,
 * -ENOENT when it has no such node.
 */
int tree_set_uart_clock(uint8_t *blob, size_t size, uint32_t hz);

/*
 * Has QEMU (argv, NULL-terminated, of a machine without -display) write its tree, changes it, and
 * returns a descriptor of it that closes on exec, or a negative errno. dir is for a moment's file.
 */
int tree_make(const char *program, unsigned memory_mb, const char *dir, uint32_t hz);

#endif
