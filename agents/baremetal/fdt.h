/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of the flattened device tree (Devicetree Specification 0.4, chapter
 * 5): enough to ask one property by its path.  It reads the caller's blob in
 * place, keeps nothing, never reads outside it, and takes a damaged blob as
 * one without the property.
 */
#ifndef AGENTS_BAREMETAL_FDT_H
#define AGENTS_BAREMETAL_FDT_H

#include <stddef.h>
#include <stdint.h>

struct fdt {
	const uint8_t *structure;
	size_t structure_size;
	const uint8_t *strings;
	size_t strings_size;
};

/* Opens a blob of at most limit bytes.  0, or -1 when it is no device tree. */
int fdt_init(struct fdt *fdt, const void *blob, size_t limit);

/*
 * The value of a property and its size in bytes, or NULL (and 0).  A component of
 * the path without a unit address ("/memory") matches the first node of that
 * name; "/" is the root.
 */
const void *fdt_get_property(
	const struct fdt *fdt, const char *path, const char *name, size_t *size);

/* A property of one or two cells as a number; otherwise when it is absent. */
uint64_t fdt_get_number(
	const struct fdt *fdt, const char *path, const char *name, uint64_t otherwise);

/* 1 when a property that is a list of strings contains the string. */
int fdt_has_string(const struct fdt *fdt, const char *path, const char *name, const char *string);

/* The first bank of memory, in bytes; 0 and 0 when the tree does not say. */
void fdt_get_memory(const struct fdt *fdt, uint64_t *base, uint64_t *size);

#endif
