/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Image manifests: what a card image is, what is in it, and how it is booted.
 * JSON beside the image, see harness/schema/manifest.json.
 *
 * Errors: 0 or a negative errno, text in manifest_error() ("FILE:LINE: KEY:
 * ...").  Everything in the struct lives until manifest_close(); one thread a
 * manifest.  Reading checks the file's size; its SHA-256 is the card writer's.
 */
#ifndef SAMEBOARD_HARNESS_MANIFEST_H
#define SAMEBOARD_HARNESS_MANIFEST_H

#include "harness/document.h"

/* A file that the loader puts into memory; its CRC-32 is checked there. */
struct manifest_payload {
	const char *file;    /* on the card */
	const char *address; /* U-Boot expression, e.g. "${kernel_addr_r}" or "0x80200000" */
	uint64_t size;
	uint32_t crc32;		/* as U-Boot's crc32 prints it */
	const char *crc32_text; /* eight hex digits */
	const struct document_node *node;
};

struct manifest {
	const char *system;
	const char *version;
	const char *file;	/* as written */
	const char *image_path; /* resolved: relative to the manifest's folder */
	uint64_t size;		/* bytes of the image */
	const char *sha256;	/* 64 hex digits, lower case */
	const char *slot;    /* of a card with the payloads of several systems; NULL: all of it */
	const char **boards; /* models that it boots on; none: any */
	size_t board_count;
	struct {
		const char *compiler, *optimisation, *config_sha256;
		bool debug;
	} build; /* NULL where not given */
	struct manifest_payload *payloads;
	size_t payload_count;
	const char **boot; /* loader command lines in order; the last one starts the system */
	size_t boot_count;
	struct {
		uint64_t offset, size; /* bytes in the image; size 0: it has no place for one */
	} plan;
	const char *first_banner;  /* first text of the system, NULL if not given */
	const char *loader_banner; /* of the loader, NULL if not given */
	const char *prompt;	   /* of the system's shell, NULL if none */
	const char *start;	   /* "auto" or the shell line that starts the agent */
	bool start_is_auto;
	struct {
		uint32_t baud; /* of the system's console, default 115200 */
	} uart;
	bool writes_card; /* must be shut down before power goes */
	struct {
		const char *command; /* typed at the shell until ... */
		const char **output; /* ... it prints one of these as its first line */
		size_t output_count;
	} ready; /* NULL, 0: the prompt is enough */
	struct {
		const char *command; /* typed at the shell */
		const char *halted;  /* text after which power may go */
		uint32_t timeout_s;  /* default 60 */
	} shutdown;		     /* NULL where not given */
	uint32_t start_timeout_s;    /* from hand-over to the agent's HELLO, default 120 */
	struct {
		unsigned reboots;
		uint32_t timeout_s;
	} first_boot; /* keys "reboots", "timeout" (s) */
	bool has_first_boot;
	const char *protection, *address_space, *tick; /* "" where not given */
	const char *agent_sha256;		       /* NULL if not given */
	struct {
		const char *user, *password;
	} login;	  /* NULL if none */
	const char *text; /* the file, for the store */
	const char *path;
	struct document *document;
	char error[768];
};

/* *manifest is set even on failure (NULL only without memory); always close it. */
int manifest_open(struct manifest **manifest, const char *path);

/* The same from text; `name` stands for the file. */
int manifest_parse(struct manifest **manifest, const char *name, const char *text, size_t size);
void manifest_close(struct manifest *manifest);
const char *manifest_error(const struct manifest *manifest);

/*
 * The manifest of `system` among DIR/NAME.json; NAME need not be the system.
 * -ENOENT names the systems there are, -EEXIST two manifests of one system.
 */
int manifest_find(struct manifest **manifest, const char *dir, const char *system);

/* After a boot the card is another one: the system writes it, and nothing shuts it down. */
bool manifest_spends_card(const struct manifest *manifest);

/* The table that the file is read by (compared with the JSON schema by a test). */
extern const struct document_shape manifest_shape;

#endif
