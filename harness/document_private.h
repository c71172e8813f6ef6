/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to document: its structs.
 */
#ifndef SAMEBOARD_HARNESS_DOCUMENT_PRIVATE_H
#define SAMEBOARD_HARNESS_DOCUMENT_PRIVATE_H

#include <cjson/cJSON.h>

#include "harness/document.h"
#include "harness/document_scan.h"

/* In the order of the text: children follow, `next` is behind the last of them. */
struct document_node {
	struct document *document;
	const cJSON *json;
	const struct document_node *next;
	unsigned line;
};

struct document_block {
	struct document_block *next;
	max_align_t align;
	char data[];
};

struct document {
	char *path;
	char *text, *blanked; /* as read; with comments blanked */
	size_t size;
	struct scan scan;
	cJSON *json;
	struct document_node *nodes;
	struct document_block *blocks;
	const char *error;
};

/* "a text", "a number", "true", ... */
const char *document_describe(const struct document_node *node);

#endif
