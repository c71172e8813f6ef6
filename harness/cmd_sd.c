/* SPDX-License-Identifier: Apache-2.0 */
/* sameboard sd */
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "boardctl/download.h"
#include "boardctl/imagefile.h"
#include "harness/cmd_board.h"
#include "harness/log.h"
#include "harness/manifest.h"
#include "harness/paths.h"
#include "harness/stop.h"

static void see_progress(
	void *context, enum card_phase phase, uint64_t done_bytes, uint64_t total_bytes)
{
	static const char *const words[] = {"hashing image", "writing card", "verifying card"};

	(void)context;
	if (done_bytes == total_bytes)
		log_progress("%s, %llu MiB", words[phase], (unsigned long long)(total_bytes >> 20));
}

static void see_download(void *context, uint64_t done_bytes, uint64_t total_bytes)
{
	unsigned *percent = context, now = (unsigned)(done_bytes * 100 / total_bytes);

	if (now < *percent + 10 && now != 100)
		return;
	if (now != *percent)
		log_progress("fetching image, %u %% of %llu MiB", now,
			(unsigned long long)(total_bytes >> 20));
	*percent = now;
}

static int check_stop(void *context)
{
	(void)context;
	return stop_requested() ? -ECANCELED : 0;
}

/* An URL's file in the cache. An exit code. */
static int fetch(struct cli *cli, const char *url, char *path, size_t size)
{
	char folder[PATH_MAX], error[512];
	unsigned percent = 0;
	struct download download = {.url = url,
		.sha256 = cli->sha256,
		.folder = folder,
		.see = see_download,
		.ctx = &percent,
		.check = check_stop};
	int rc;

	if (!cli->sha256) {
		log_error("sd: an image from the network needs --sha256=HEX");
		return CLI_USAGE;
	}
	if (paths_cache_file("images", folder, sizeof(folder)) != 0) {
		log_error("sd: the path of the cache is too long");
		return CLI_USAGE;
	}
	rc = download_fetch(&download, path, size, error, sizeof(error));
	if (rc == 0)
		return CLI_PASS;
	log_error("%s", error);
	return rc == -EINVAL || rc == -EBADMSG || rc == -ENOENT || rc == -EACCES ? CLI_USAGE
										 : CLI_LAB;
}

/* A text or a program on a card costs an hour until somebody finds out. An exit code. */
static int check_image(const struct cli *cli, const char *path)
{
	struct imagefile *image = NULL;
	int rc = imagefile_open(&image, path);

	if (rc == 0 && !cli->force)
		rc = imagefile_check_card(image);
	if (rc != 0)
		log_error("%s%s", imagefile_error(image),
			rc == -EINVAL ? "; nothing was touched (--force writes it all the same)"
				      : "");
	imagefile_close(image);
	return rc == 0 ? CLI_PASS : CLI_USAGE;
}

static bool is_url(const char *text)
{
	return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0;
}

static bool is_manifest(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot && strcmp(dot, ".json") == 0;
}

/* A manifest's image must be what it says; *manifest is to be closed. */
static int find_image(struct cli *cli, struct card_image *image, struct manifest **manifest,
	char *cached, size_t size)
{
	const char *path = cli->arguments[2];

	*image = (struct card_image){.path = path, .sha256 = cli->sha256, .bmap = cli->bmap};
	if (is_url(path)) {
		int exit_code = fetch(cli, path, cached, size);

		image->path = cached;
		return exit_code == CLI_PASS ? check_image(cli, cached) : exit_code;
	}
	if (!is_manifest(path))
		return check_image(cli, path);
	if (manifest_open(manifest, path) != 0) {
		log_error("%s", manifest_error(*manifest));
		return CLI_USAGE;
	}
	image->path = (*manifest)->image_path;
	image->sha256 = (*manifest)->sha256;
	return CLI_PASS;
}

static int write_image(struct cli *cli, struct board *board)
{
	struct card_progress progress = {see_progress, NULL};
	struct card_image image;
	struct manifest *manifest = NULL;
	char written[SHA256_HEX_SIZE], cached[PATH_MAX];
	int rc, exit_code = find_image(cli, &image, &manifest, cached, sizeof(cached));

	if (exit_code == CLI_PASS) {
		rc = board_write_card(board, &image, &progress, written);
		if (rc != 0)
			log_error("%s", board_error(board));
		exit_code = rc == 0 ? cmd_board_print(cli, board, "sha256", written)
			    : rc == -EFBIG || rc == -EBADMSG || rc == -ENOENT || rc == -EINVAL
				    ? CLI_USAGE
				    : CLI_LAB;
	}
	manifest_close(manifest);
	return exit_code;
}

static int act_sd(struct cli *cli, struct board *board)
{
	const char *verb = cli->arguments[1];
	enum sdmux_position position = SDMUX_POSITION_OFF;
	bool powered = false;
	int rc;

	if (!board->mux) {
		log_error("board %s has no \"sdmux\" in the lab file", board->config->name);
		return CLI_USAGE;
	}
	if (strcmp(verb, "write") == 0)
		return write_image(cli, board);
	if (strcmp(verb, "status") == 0) {
		rc = sdmux_get(board->mux, &position);
		if (rc == 0)
			return cmd_board_print(cli, board, "sdmux", sdmux_position_name(position));
		log_error("board %s: SD mux: %s", board->config->name, sdmux_error(board->mux));
		return CLI_LAB;
	}
	if (power_get(board->power, &powered) == 0 && powered) {
		log_error("board %s is powered: its card is not moved; `sameboard power %s off` "
			  "first",
			board->config->name, board->config->name);
		return CLI_LAB;
	}
	while (strcmp(sdmux_position_name(position), verb) != 0)
		position++;
	if (board_set_mux(board, position) != 0) {
		log_error("%s", board_error(board));
		return CLI_LAB;
	}
	return cmd_board_print(cli, board, "sdmux", verb);
}

int command_sd(struct cli *cli)
{
	static const char *const verbs[] = {"host", "dut", "off", "status", "write"};
	const char *verb = cli->arguments[1];
	bool is_write = strcmp(verb, "write") == 0;

	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verb, verbs[i]) != 0)
			continue;
		if (is_write == (cli->argument_count == 3))
			return cmd_board_with(cli, act_sd);
		log_error(
			"sd: %s", is_write ? "write needs an IMAGE" : "only write takes an IMAGE");
		return CLI_USAGE;
	}
	log_error("sd: \"%s\" is none of host, dut, off, status, write", verb);
	return CLI_USAGE;
}
