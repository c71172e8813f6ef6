/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/manifest.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "boardctl/utf8.h"
#include "harness/word.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(key, member, wanted)                                                                  \
	{                                                                                          \
		.name = key, .kind = DOCUMENT_STRING, .expected = wanted,                          \
		DOCUMENT_AT(struct manifest, member)                                               \
	}

#define REQUIRED_TEXT(key, member, wanted)                                                         \
	{                                                                                          \
		.name = key, .kind = DOCUMENT_STRING, .required = true, .expected = wanted,        \
		DOCUMENT_AT(struct manifest, member)                                               \
	}

/* A nested object whose shape is over the same struct. */
#define GROUP(key, group)                                                                          \
	{                                                                                          \
		.name = key, .kind = DOCUMENT_OBJECT, .shape = &(group)                            \
	}

static const struct document_key build_keys[] = {
	TEXT("compiler", build.compiler, "the compiler's version"),
	TEXT("optimisation", build.optimisation, "its optimisation, like \"-O2\""),
	{.name = "debug", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct manifest, build.debug)},
	TEXT("config_sha256", build.config_sha256, "64 hex digits"),
};

static const struct document_shape build_shape = {
	.noun = "the facts of a build",
	.keys = build_keys,
	.key_count = COUNT(build_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key payload_keys[] = {
	{.name = "file",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a file on the card",
		DOCUMENT_AT(struct manifest_payload, file)},
	{.name = "address",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "an address, like \"${kernel_addr_r}\" or \"0x80200000\"",
		DOCUMENT_AT(struct manifest_payload, address)},
	{.name = "size",
		.kind = DOCUMENT_INTEGER,
		.required = true,
		.min = 1,
		.max = 4294967295.0,
		.unit = "bytes",
		DOCUMENT_AT(struct manifest_payload, size)},
	{.name = "crc32",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "8 hex digits",
		DOCUMENT_AT(struct manifest_payload, crc32_text)},
};

static const struct document_shape payload_shape = {
	.noun = "a payload",
	.keys = payload_keys,
	.key_count = COUNT(payload_keys),
	.size = sizeof(struct manifest_payload),
	.name_offset = SIZE_MAX,
	.node_offset = offsetof(struct manifest_payload, node),
};

static const struct document_key uart_keys[] = {
	{.name = "baud",
		.kind = DOCUMENT_INTEGER,
		.min = 300,
		.max = 4000000,
		.unit = "baud",
		DOCUMENT_AT(struct manifest, uart.baud)},
};

static const struct document_shape uart_shape = {
	.noun = "a UART",
	.keys = uart_keys,
	.key_count = COUNT(uart_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key ready_keys[] = {
	REQUIRED_TEXT("command", ready.command, "a line for the shell"),
	{.name = "output",
		.kind = DOCUMENT_STRINGS,
		.required = true,
		.min = 1,
		.max = 16,
		.expected = "a line that the command prints",
		DOCUMENT_AT(struct manifest, ready.output),
		.count_offset = offsetof(struct manifest, ready.output_count)},
};

static const struct document_shape ready_shape = {
	.noun = "the end of a boot",
	.keys = ready_keys,
	.key_count = COUNT(ready_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key shutdown_keys[] = {
	REQUIRED_TEXT("command", shutdown.command, "a line for the shell"),
	REQUIRED_TEXT("halted", shutdown.halted, "the text after which power may go"),
	{.name = "timeout",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 3600,
		.unit = "s",
		DOCUMENT_AT(struct manifest, shutdown.timeout_s)},
};

static const struct document_shape shutdown_shape = {
	.noun = "a shutdown",
	.keys = shutdown_keys,
	.key_count = COUNT(shutdown_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key first_boot_keys[] = {
	{.name = "reboots",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 10,
		.unit = "reboots",
		DOCUMENT_AT(struct manifest, first_boot.reboots)},
	{.name = "timeout",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 3600,
		.unit = "s",
		DOCUMENT_AT(struct manifest, first_boot.timeout_s)},
};

static const struct document_shape first_boot_shape = {
	.noun = "a first boot",
	.keys = first_boot_keys,
	.key_count = COUNT(first_boot_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key plan_keys[] = {
	{.name = "offset",
		.kind = DOCUMENT_INTEGER,
		.required = true,
		.min = 0,
		.max = 0x1p50,
		.unit = "bytes",
		DOCUMENT_AT(struct manifest, plan.offset)},
	{.name = "size",
		.kind = DOCUMENT_INTEGER,
		.required = true,
		.min = 64,
		.max = 1048576,
		.unit = "bytes",
		DOCUMENT_AT(struct manifest, plan.size)},
};

static const struct document_shape plan_shape = {
	.noun = "the place of a plan",
	.keys = plan_keys,
	.key_count = COUNT(plan_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key login_keys[] = {
	REQUIRED_TEXT("user", login.user, "a user"),
	{.name = "password",
		.kind = DOCUMENT_STRING,
		.min = -1,
		DOCUMENT_AT(struct manifest, login.password)},
};

static const struct document_shape login_shape = {
	.noun = "a login",
	.keys = login_keys,
	.key_count = COUNT(login_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key manifest_keys[] = {
	REQUIRED_TEXT("system", system, "the name of a system, like \"linux\""),
	REQUIRED_TEXT("version", version, "the version of the system"),
	REQUIRED_TEXT("file", file, "the image file, relative to the manifest"),
	{.name = "size",
		.kind = DOCUMENT_INTEGER,
		.required = true,
		.min = 1,
		.max = 0x1p50,
		.unit = "bytes",
		DOCUMENT_AT(struct manifest, size)},
	REQUIRED_TEXT("sha256", sha256, "64 hex digits"),
	TEXT("slot", slot, "the name of the slot on a card of several systems"),
	{.name = "boards",
		.kind = DOCUMENT_STRINGS,
		.max = 64,
		.expected = "the model of a board",
		DOCUMENT_AT(struct manifest, boards),
		.count_offset = offsetof(struct manifest, board_count)},
	GROUP("build", build_shape),
	{.name = "payloads",
		.kind = DOCUMENT_OBJECTS,
		.max = 32,
		.shape = &payload_shape,
		DOCUMENT_AT(struct manifest, payloads),
		.count_offset = offsetof(struct manifest, payload_count)},
	{.name = "boot",
		.kind = DOCUMENT_STRINGS,
		.required = true,
		.min = 1,
		.max = 64,
		.expected = "a command line of the loader",
		DOCUMENT_AT(struct manifest, boot),
		.count_offset = offsetof(struct manifest, boot_count)},
	GROUP("plan", plan_shape),
	TEXT("first_banner", first_banner, "the first text of the system"),
	TEXT("loader_banner", loader_banner, "a text of the loader's banner"),
	TEXT("prompt", prompt, "the shell's prompt"),
	REQUIRED_TEXT("start", start, "\"auto\" or the shell line that starts the agent"),
	GROUP("uart", uart_shape),
	{.name = "writes_card",
		.kind = DOCUMENT_BOOLEAN,
		.required = true,
		DOCUMENT_AT(struct manifest, writes_card)},
	{.name = "start_timeout",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 3600,
		.unit = "s",
		DOCUMENT_AT(struct manifest, start_timeout_s)},
	GROUP("first_boot", first_boot_shape),
	GROUP("ready", ready_shape),
	GROUP("shutdown", shutdown_shape),
	TEXT("protection", protection, "the protection model"),
	TEXT("address_space", address_space, "the address-space model"),
	TEXT("tick", tick, "the tick, like \"1000 Hz\" or \"tickless\""),
	TEXT("agent_sha256", agent_sha256, "64 hex digits"),
	GROUP("login", login_shape),
};

const struct document_shape manifest_shape = {
	.noun = "an image manifest",
	.keys = manifest_keys,
	.key_count = COUNT(manifest_keys),
	.size = sizeof(struct manifest),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static int fail(struct manifest *manifest, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct manifest *manifest, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(manifest->error, sizeof(manifest->error), format, args);
	va_end(args);
	utf8_mend_line(manifest->error);
	return code;
}

static int check_hash(struct document *document, const struct document_node *node, const char *key,
	const char **hash)
{
	char *lower;

	if (!*hash)
		return 0;
	if (!word_is_hex(*hash, 64))
		return document_fail(
			document, node, key, "\"%s\" is no SHA-256; expected 64 hex digits", *hash);
	lower = document_format(document, "%s", *hash);
	if (!lower)
		return -ENOMEM;
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	*hash = lower;
	return 0;
}

/* What is typed at the loader must be a line. */
static bool is_line(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

static int check_payloads(struct manifest *manifest)
{
	struct document *document = manifest->document;

	for (size_t i = 0; i < manifest->payload_count; i++) {
		struct manifest_payload *payload = &manifest->payloads[i];
		size_t length = strspn(payload->address,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_${}");

		if (payload->address[length])
			return document_fail(document, payload->node, "address",
				"\"%s\" is no address; expected one like \"${kernel_addr_r}\" or "
				"\"0x80200000\"",
				payload->address);
		if (!word_is_hex(payload->crc32_text, 8))
			return document_fail(document, payload->node, "crc32",
				"\"%s\" is no CRC-32; expected 8 hex digits", payload->crc32_text);
		payload->crc32 = (uint32_t)strtoul(payload->crc32_text, NULL, 16);
	}
	return 0;
}

/* True also where there is none. */
static bool check_shell_line(struct manifest *manifest, const char *key, const char *line)
{
	const struct document_node *node = document_find(document_root(manifest->document), key);

	if (!line)
		return true;
	if (!is_line(line))
		document_fail(manifest->document, node, "command",
			"holds a control character; expected one line");
	else if (!manifest->prompt)
		document_fail(manifest->document, node, "command",
			"is a shell line, but the shell's prompt is not given; expected "
			"\"prompt\" beside \"%s\"",
			key);
	return is_line(line) && manifest->prompt;
}

static int check_lines(struct manifest *manifest)
{
	const struct document_node *root = document_root(manifest->document);

	for (size_t i = 0; i < manifest->boot_count; i++) {
		if (!is_line(manifest->boot[i]))
			return document_fail(manifest->document, root, "boot",
				"command %zu holds a control character; expected one line each",
				i + 1);
	}
	if (!is_line(manifest->start))
		return document_fail(manifest->document, root, "start",
			"holds a control character; expected \"auto\" or one line");
	manifest->start_is_auto = !strcmp(manifest->start, "auto");
	if (!manifest->start_is_auto && !manifest->prompt)
		return document_fail(manifest->document, root, "start",
			"is a shell line, but the shell's prompt is not given; expected \"prompt\", "
			"or \"auto\" here");
	if (!check_shell_line(manifest, "ready", manifest->ready.command) ||
		!check_shell_line(manifest, "shutdown", manifest->shutdown.command))
		return -EINVAL;
	return 0;
}

static int check_image(struct manifest *manifest)
{
	const struct document_node *root = document_root(manifest->document);
	struct stat info;

	if (manifest->slot && manifest->writes_card)
		return document_fail(manifest->document, root, "writes_card",
			"is true for slot \"%s\" of a card that other systems boot from; expected "
			"false, or a card of its own",
			manifest->slot);
	manifest->has_first_boot = document_find(root, "first_boot") != NULL;
	manifest->image_path = document_resolve(manifest->document, manifest->file);
	if (!manifest->image_path)
		return -ENOMEM;
	if (stat(manifest->image_path, &info)) {
		int error = errno;

		document_fail(manifest->document, root, "file",
			"image %s cannot be read: %s; expected it there (make images)",
			manifest->image_path, strerror(error));
		return -error;
	}
	if (!S_ISREG(info.st_mode))
		return document_fail(manifest->document, root, "file",
			"image %s is no regular file; expected one", manifest->image_path);
	if ((uint64_t)info.st_size != manifest->size)
		return document_fail(manifest->document, root, "size",
			"image %s has %lld bytes; expected %llu (was it cut? make images)",
			manifest->image_path, (long long)info.st_size,
			(unsigned long long)manifest->size);
	if (manifest->plan.size && manifest->plan.offset + manifest->plan.size > manifest->size)
		return document_fail(manifest->document, root, "plan",
			"lies beyond the image of %llu bytes; expected it inside",
			(unsigned long long)manifest->size);
	return 0;
}

static int fill(struct manifest *manifest)
{
	struct document *document = manifest->document;
	const struct document_node *root = document_root(document);
	int result = document_read(document, &manifest_shape, manifest);

	if (result)
		return result;
	if (!word_is_name(manifest->system))
		return document_fail(document, root, "system",
			"\"%s\" is no name of a system; expected " WORD_NAME_RULE,
			manifest->system);
	result = check_hash(document, root, "sha256", &manifest->sha256);
	if (!result)
		result = check_hash(document, document_find(root, "build"), "config_sha256",
			&manifest->build.config_sha256);
	if (!result)
		result = check_hash(document, root, "agent_sha256", &manifest->agent_sha256);
	if (!result)
		result = check_payloads(manifest);
	if (!result)
		result = check_lines(manifest);
	return result ? result : check_image(manifest);
}

static struct manifest *new_manifest(void)
{
	struct manifest *manifest = calloc(1, sizeof(*manifest));

	if (!manifest)
		return NULL;
	manifest->uart.baud = 115200;
	manifest->start_timeout_s = 120;
	manifest->first_boot.timeout_s = 300;
	manifest->shutdown.timeout_s = 60;
	manifest->protection = manifest->address_space = manifest->tick = "";
	return manifest;
}

/* The document is there, or `result` says why not. */
static int finish(struct manifest *manifest, int result)
{
	if (!result)
		result = fill(manifest);
	if (result)
		return fail(manifest, result, "%s",
			result == -ENOMEM ? "out of memory" : document_error(manifest->document));
	manifest->path = document_path(manifest->document);
	manifest->text = document_text(manifest->document, NULL);
	return 0;
}

int manifest_open(struct manifest **opened, const char *path)
{
	struct manifest *manifest = new_manifest();

	*opened = manifest;
	if (!manifest)
		return -ENOMEM;
	return finish(manifest, document_open(&manifest->document, path));
}

int manifest_parse(struct manifest **parsed, const char *name, const char *text, size_t size)
{
	struct manifest *manifest = new_manifest();

	*parsed = manifest;
	if (!manifest)
		return -ENOMEM;
	return finish(manifest, document_parse(&manifest->document, name, text, size));
}

void manifest_close(struct manifest *manifest)
{
	if (!manifest)
		return;
	document_close(manifest->document);
	free(manifest);
}

const char *manifest_error(const struct manifest *manifest)
{
	return manifest ? manifest->error : "out of memory";
}

bool manifest_spends_card(const struct manifest *manifest)
{
	return manifest->writes_card && !manifest->shutdown.command;
}

/* ------------------------------------------------------- manifests of a folder */

struct search {
	const char *dir, *system;
	char *path, *second; /* of the system */
	char **systems;	     /* all there are, ends with NULL */
	size_t system_count;
	char problem[400]; /* of the first manifest that cannot be read */
};

/* Looks at one file only as far as to know its system. */
static int look_at(struct search *search, const char *name)
{
	struct document *document = NULL;
	const char *system;
	char *path = NULL;
	int result;

	if (asprintf(&path, "%s/%s.json", search->dir, name) < 0)
		return -ENOMEM;
	result = document_open(&document, path);
	system = result ? NULL : document_string(document_find(document_root(document), "system"));
	if (!system && !search->problem[0])
		snprintf(search->problem, sizeof(search->problem), "; %s%s",
			result ? document_error(document) : path,
			result ? "" : ": key \"system\" is missing; expected an image manifest");
	if (system)
		search->systems[search->system_count++] = strdup(system);
	if (system && !strcmp(system, search->system)) {
		char **slot = search->path ? &search->second : &search->path;

		if (!*slot) {
			*slot = path;
			path = NULL;
		}
	}
	free(path);
	document_close(document);
	return 0;
}

static int look_around(struct search *search)
{
	char **names = word_list_files(search->dir);
	size_t count = 0;
	int result = 0;

	if (!names)
		return -ENOENT;
	while (names[count])
		count++;
	search->systems = calloc(count + 1, sizeof(*search->systems));
	if (!search->systems)
		result = -ENOMEM;
	for (size_t i = 0; !result && i < count; i++)
		result = look_at(search, names[i]);
	word_free_list(names);
	return result;
}

static int report_missing(struct manifest *manifest, const struct search *search)
{
	const char *const *systems = (const char *const *)search->systems;
	const char *nearest = document_nearest(search->system, systems);
	char text[256];

	word_join(systems, text, sizeof(text));
	if (nearest)
		return fail(manifest, -ENOENT,
			"%s: there is no image of system \"%s\"; did you mean \"%s\"?%s",
			search->dir, search->system, nearest, search->problem);
	if (!search->system_count)
		return fail(manifest, -ENOENT,
			"%s: there is no image of system \"%s\", nor of any other (make images)%s",
			search->dir, search->system, search->problem);
	return fail(manifest, -ENOENT, "%s: there is no image of system \"%s\"; expected %s%s",
		search->dir, search->system, text, search->problem);
}

static int report(struct manifest **found, const struct search *search, int result)
{
	struct manifest *manifest;

	if (!result && search->path && !search->second)
		return manifest_open(found, search->path);
	*found = manifest = calloc(1, sizeof(*manifest));
	if (!manifest || result == -ENOMEM)
		return -ENOMEM;
	if (result)
		return fail(manifest, result,
			"%s: there is no folder of images; expected one (make images)",
			search->dir);
	if (search->second)
		return fail(manifest, -EEXIST,
			"%s and %s are both of system \"%s\"; expected one manifest a system",
			search->path, search->second, search->system);
	return report_missing(manifest, search);
}

int manifest_find(struct manifest **found, const char *dir, const char *system)
{
	struct search search = {.dir = dir, .system = system};
	int result = look_around(&search);

	result = report(found, &search, result);
	word_free_list(search.systems);
	free(search.path);
	free(search.second);
	return result;
}
