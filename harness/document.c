/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/document.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/utf8.h"
#include "harness/document_private.h"

static void set_error(struct document *document, unsigned line, const char *path,
	const char *format, va_list args) __attribute__((format(printf, 4, 0)));

static void set_error(struct document *document, unsigned line, const char *path,
	const char *format, va_list args)
{
	char text[1024], *error;

	if (document->error)
		return;
	vsnprintf(text, sizeof(text), format, args);
	if (line && *path)
		error = document_format(
			document, "%s:%u: %s: %s", document->path, line, path, text);
	else if (line)
		error = document_format(document, "%s:%u: %s", document->path, line, text);
	else
		error = document_format(document, "%s: %s", document->path, text);
	/* Values and keys are quoted in it, and may hold anything. */
	if (error)
		utf8_mend_line(error);
	document->error = error;
}

static int fail_at(struct document *document, int code, unsigned line, const char *path,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

static int fail_at(struct document *document, int code, unsigned line, const char *path,
	const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_error(document, line, path, format, args);
	va_end(args);
	return code;
}

int document_fail(struct document *document, const struct document_node *node, const char *key,
	const char *format, ...)
{
	const struct document_node *child = key ? document_find(node, key) : NULL;
	char path[256], full[512];
	va_list args;

	child = child ? child : node;
	scan_write_path(&document->scan, (size_t)(child - document->nodes), path, sizeof(path));
	if (key && child == node)
		snprintf(full, sizeof(full), "%s%s%s", path, *path ? "." : "", key);
	else
		snprintf(full, sizeof(full), "%s", path);
	va_start(args, format);
	set_error(document, child->line, full, format, args);
	va_end(args);
	return -EINVAL;
}

void *document_allocate(struct document *document, size_t size)
{
	struct document_block *block = calloc(1, sizeof(*block) + size);

	if (!block)
		return NULL;
	block->next = document->blocks;
	document->blocks = block;
	return block->data;
}

char *document_format(struct document *document, const char *format, ...)
{
	va_list args;
	char *text = NULL;
	int length;

	va_start(args, format);
	length = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (length >= 0)
		text = document_allocate(document, (size_t)length + 1);
	if (!text)
		return NULL;
	va_start(args, format);
	vsnprintf(text, (size_t)length + 1, format, args);
	va_end(args);
	return text;
}

const char *document_resolve(struct document *document, const char *path)
{
	const char *slash = strrchr(document->path, '/');

	if (path[0] == '/' || !slash)
		return document_format(document, "%s", path);
	return document_format(
		document, "%.*s%s", (int)(slash - document->path + 1), document->path, path);
}

/* Pairs cJSON's tree with the scanned values, which are in the same order. */
static int add_nodes(struct document *document, cJSON *item, size_t *at)
{
	size_t here = (*at)++;
	struct document_node *node = &document->nodes[here];
	cJSON *child;

	if (here >= document->scan.value_count)
		return -EPROTO;
	node->document = document;
	node->json = item;
	node->line = document->scan.values[here].line;
	node->next = document->nodes + document->scan.values[here].next;
	cJSON_ArrayForEach(child, item)
	{
		int result = add_nodes(document, child, at);

		if (result)
			return result;
	}
	return document->scan.values[here].next == *at ? 0 : -EPROTO;
}

/* Keys may be written in several ways ("a" is "\u0061"): compare what they mean too. */
static int check_keys(struct document *document)
{
	for (size_t i = 0; i < document->scan.value_count; i++) {
		const struct document_node *node = &document->nodes[i];
		const struct document_node *first;

		if (document->scan.values[i].parent == SIZE_MAX || !node->json->string ||
			!memchr(document->scan.text + document->scan.values[i].key, '\\',
				document->scan.values[i].key_length))
			continue;
		first = document_find(
			&document->nodes[document->scan.values[i].parent], node->json->string);
		if (first != node)
			return document_fail(document, node, NULL,
				"duplicate key, first in line %u; expected each key once",
				first->line);
	}
	return 0;
}

static int parse_nodes(struct document *document)
{
	size_t at = 0;
	int result;

	document->json = cJSON_ParseWithLength(document->blanked, document->size);
	document->nodes = calloc(document->scan.value_count, sizeof(*document->nodes));
	if (!document->nodes)
		return fail_at(document, -ENOMEM, 0, "", "out of memory");
	result = document->json ? add_nodes(document, document->json, &at) : -EPROTO;
	if (!result && at != document->scan.value_count)
		result = -EPROTO;
	if (result)
		return fail_at(document, -EINVAL, 1, "",
			"the text could not be parsed; expected JSON (RFC 8259) with comments");
	return check_keys(document);
}

/* document->text is set. */
static int parse(struct document *document)
{
	const char *what;
	unsigned char byte;
	unsigned line;
	int result;

	if (document->size >= 3 && !memcmp(document->text, "\xef\xbb\xbf", 3))
		return fail_at(document, -EINVAL, 1, "",
			"begins with a byte order mark; expected plain UTF-8");
	if (scan_find_bad_byte(document->text, document->size, &line, &byte, &what))
		return fail_at(document, -EINVAL, line, "", "byte 0x%02x %s; expected UTF-8 text",
			byte, what);
	document->blanked = document_allocate(document, document->size + 1);
	if (!document->blanked)
		return fail_at(document, -ENOMEM, 0, "", "out of memory");
	memcpy(document->blanked, document->text, document->size);
	line = scan_blank_comments(document->blanked, document->size);
	if (line)
		return fail_at(document, -EINVAL, line, "",
			"a comment begins here and never ends; expected */");
	result = scan_text(&document->scan, document->blanked, document->size, DOCUMENT_DEPTH_MAX);
	if (result == -ENOMEM)
		return fail_at(document, result, 0, "", "out of memory");
	if (result)
		return fail_at(document, result, document->scan.error_line,
			document->scan.error_path, "%s", document->scan.error);
	result = parse_nodes(document);
	if (!result && !cJSON_IsObject(document->json))
		return fail_at(document, -EINVAL, document->nodes[0].line, "",
			"the document is %s; expected an object, { ... }",
			document_describe(&document->nodes[0]));
	return result;
}

static struct document *new_document(const char *name)
{
	struct document *document = calloc(1, sizeof(*document));

	if (!document)
		return NULL;
	document->path = strdup(name ? name : "");
	if (!document->path) {
		free(document);
		return NULL;
	}
	return document;
}

static int fail_size(struct document *document)
{
	return fail_at(document, -EFBIG, 0, "", "is larger than %d bytes; expected a smaller file",
		DOCUMENT_SIZE_MAX);
}

int document_parse(struct document **parsed, const char *name, const char *text, size_t size)
{
	struct document *document = new_document(name);

	*parsed = document;
	if (!document)
		return -ENOMEM;
	if (size > DOCUMENT_SIZE_MAX)
		return fail_size(document);
	document->text = document_allocate(document, size + 1);
	if (!document->text)
		return fail_at(document, -ENOMEM, 0, "", "out of memory");
	if (size)
		memcpy(document->text, text, size);
	document->size = size;
	return parse(document);
}

/* Reads until the end or one byte more than is allowed. */
static int read_text(struct document *document, int fd)
{
	size_t room = DOCUMENT_SIZE_MAX + 1;
	struct stat info;

	if (fstat(fd, &info))
		return -errno;
	if (S_ISREG(info.st_mode) && info.st_size > DOCUMENT_SIZE_MAX)
		return fail_size(document);
	if (S_ISREG(info.st_mode))
		room = (size_t)info.st_size + 1;
	document->text = document_allocate(document, room + 1);
	if (!document->text)
		return -ENOMEM;
	while (document->size < room) {
		ssize_t got = read(fd, document->text + document->size, room - document->size);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			break;
		document->size += got > 0 ? (size_t)got : 0;
	}
	document->text[document->size] = '\0';
	return document->size > DOCUMENT_SIZE_MAX ? fail_size(document) : 0;
}

int document_open(struct document **opened, const char *path)
{
	struct document *document = new_document(path);
	int fd, result;

	*opened = document;
	if (!document)
		return -ENOMEM;
	fd = open(document->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	result = fd < 0 ? -errno : read_text(document, fd);
	if (fd >= 0)
		close(fd);
	if (result)
		return fail_at(document, result, 0, "", "cannot be read: %s", strerror(-result));
	return parse(document);
}

void document_close(struct document *document)
{
	if (!document)
		return;
	scan_fini(&document->scan);
	cJSON_Delete(document->json);
	free(document->nodes);
	while (document->blocks) {
		struct document_block *next = document->blocks->next;

		free(document->blocks);
		document->blocks = next;
	}
	free(document->path);
	free(document);
}

const char *document_error(const struct document *document)
{
	if (!document)
		return "out of memory";
	return document->error ? document->error : "";
}

const char *document_text(const struct document *document, size_t *size)
{
	if (size)
		*size = document->size;
	return document->text ? document->text : "";
}

const char *document_path(const struct document *document)
{
	return document->path;
}

const struct document_node *document_root(const struct document *document)
{
	return document->nodes;
}

const struct document_node *document_find(const struct document_node *node, const char *key)
{
	if (!node || !cJSON_IsObject(node->json))
		return NULL;
	for (const struct document_node *child = node + 1; child < node->next;
		child = child->next) {
		if (!strcmp(child->json->string, key))
			return child;
	}
	return NULL;
}

unsigned document_line(const struct document_node *node)
{
	return node ? node->line : 0;
}

const char *document_string(const struct document_node *node)
{
	return node ? cJSON_GetStringValue(node->json) : NULL;
}

const char *document_describe(const struct document_node *node)
{
	if (cJSON_IsObject(node->json))
		return "an object";
	if (cJSON_IsArray(node->json))
		return "an array";
	if (cJSON_IsBool(node->json))
		return cJSON_IsTrue(node->json) ? "true" : "false";
	if (cJSON_IsNumber(node->json))
		return "a number";
	if (cJSON_IsString(node->json))
		return "a text";
	return "null";
}
