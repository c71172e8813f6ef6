/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/fdt.h"

#define FDT_MAGIC	0xd00dfeedu
#define FDT_HEADER_SIZE 40u
#define FDT_BEGIN_NODE	1u
#define FDT_END_NODE	2u
#define FDT_PROP	3u
#define FDT_NOP		4u

static uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Length of a string that must end inside size bytes; size when it does not. */
static size_t bounded_length(const uint8_t *string, size_t size)
{
	size_t length = 0;

	while (length < size && string[length])
		length++;
	return length;
}

static int equals(const uint8_t *string, size_t length, const char *wanted)
{
	for (size_t i = 0; i < length; i++)
		if (!wanted[i] || string[i] != (uint8_t)wanted[i])
			return 0;
	return wanted[length] == '\0';
}

int fdt_init(struct fdt *fdt, const void *blob, size_t limit)
{
	const uint8_t *bytes = blob;
	uint32_t total;
	uint32_t structure;
	uint32_t strings;

	*fdt = (struct fdt){0};
	if (!bytes || limit < FDT_HEADER_SIZE || get_be32(bytes) != FDT_MAGIC)
		return -1;
	total = get_be32(bytes + 4);
	structure = get_be32(bytes + 8);
	strings = get_be32(bytes + 12);
	if (total > limit || structure > total || strings > total ||
		get_be32(bytes + 32) > total - strings || get_be32(bytes + 36) > total - structure)
		return -1;
	fdt->structure = bytes + structure;
	fdt->structure_size = get_be32(bytes + 36);
	fdt->strings = bytes + strings;
	fdt->strings_size = get_be32(bytes + 32);
	return 0;
}

/*
 * The first component of path when a node of this name satisfies it: returns what
 * follows it, without the slash; NULL when the node is another.
 */
static const char *match_component(const uint8_t *node, size_t length, const char *path)
{
	size_t i = 0;

	while (path[i] && path[i] != '/') {
		if (i >= length || node[i] != (uint8_t)path[i])
			return NULL;
		i++;
	}
	if (i < length && node[i] != '@')
		return NULL;
	return path[i] == '/' ? path + i + 1 : path + i;
}

struct token {
	uint32_t kind;
	const uint8_t *body; /* a node's name, a property's value */
	size_t size;	     /* of the name without its end, of the value */
	const uint8_t *name; /* a property's */
	size_t name_size;
};

/* Reads the token at *at and moves *at behind it.  0 at the end or on damage. */
static int read_token(const struct fdt *fdt, size_t *at, struct token *token)
{
	size_t left;
	size_t used = 4;
	uint32_t name;

	if (*at > fdt->structure_size || fdt->structure_size - *at < 4)
		return 0;
	left = fdt->structure_size - *at;
	*token = (struct token){.kind = get_be32(fdt->structure + *at)};
	token->body = fdt->structure + *at + 4;
	switch (token->kind) {
	case FDT_BEGIN_NODE:
		token->size = bounded_length(token->body, left - 4);
		if (token->size == left - 4)
			return 0;
		used += token->size + 1;
		break;
	case FDT_PROP:
		if (left < 12)
			return 0;
		token->size = get_be32(token->body);
		name = get_be32(token->body + 4);
		if (token->size > left - 12 || name >= fdt->strings_size)
			return 0;
		token->name = fdt->strings + name;
		token->name_size = bounded_length(token->name, fdt->strings_size - name);
		token->body += 8;
		used += 8 + token->size;
		break;
	case FDT_END_NODE:
	case FDT_NOP:
		break;
	default:
		return 0;
	}
	*at += (used + 3) & ~(size_t)3;
	return 1;
}

const void *fdt_get_property(
	const struct fdt *fdt, const char *path, const char *name, size_t *size)
{
	const char *rest = path + 1;
	unsigned int depth = 0;	  /* of the node being read; the root is at 1 */
	unsigned int matched = 0; /* how deep the path has been followed */
	struct token token;
	size_t at = 0;

	*size = 0;
	while (read_token(fdt, &at, &token)) {
		if (token.kind == FDT_BEGIN_NODE) {
			const char *next = NULL;

			if (depth == 0)
				next = rest;
			else if (depth == matched && *rest)
				next = match_component(token.body, token.size, rest);
			depth++;
			if (next) {
				rest = next;
				matched = depth;
			}
		} else if (token.kind == FDT_END_NODE) {
			/* The node that the path led into is over: it has no such property. */
			if (depth == 0 || depth == matched)
				return NULL;
			depth--;
		} else if (token.kind == FDT_PROP && depth == matched && !*rest &&
			   equals(token.name, token.name_size, name)) {
			*size = token.size;
			return token.body;
		}
	}
	return NULL;
}

uint64_t fdt_get_number(
	const struct fdt *fdt, const char *path, const char *name, uint64_t otherwise)
{
	size_t size;
	const uint8_t *value = fdt_get_property(fdt, path, name, &size);

	if (!value || (size != 4 && size != 8))
		return otherwise;
	if (size == 4)
		return get_be32(value);
	return (uint64_t)get_be32(value) << 32 | get_be32(value + 4);
}

int fdt_has_string(const struct fdt *fdt, const char *path, const char *name, const char *string)
{
	size_t size;
	const uint8_t *value = fdt_get_property(fdt, path, name, &size);
	size_t at = 0;

	while (value && at < size) {
		size_t length = bounded_length(value + at, size - at);

		if (length < size - at && equals(value + at, length, string))
			return 1;
		at += length + 1;
	}
	return 0;
}

static uint64_t get_cells(const uint8_t *at, uint64_t cells)
{
	uint64_t value = 0;

	for (uint64_t i = 0; i < cells; i++)
		value = value << 32 | get_be32(at + 4 * i);
	return value;
}

void fdt_get_memory(const struct fdt *fdt, uint64_t *base, uint64_t *size)
{
	/* The defaults are the specification's (2.3.5). */
	uint64_t base_cells = fdt_get_number(fdt, "/", "#address-cells", 2);
	uint64_t size_cells = fdt_get_number(fdt, "/", "#size-cells", 1);
	size_t length;
	const uint8_t *reg = fdt_get_property(fdt, "/memory", "reg", &length);

	*base = 0;
	*size = 0;
	if (!reg || base_cells > 2 || size_cells > 2 || length < 4 * (base_cells + size_cells))
		return;
	*base = get_cells(reg, base_cells);
	*size = get_cells(reg + 4 * base_cells, size_cells);
}
