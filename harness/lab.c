/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/lab.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boardctl/utf8.h"
#include "harness/lab_file.h"
#include "harness/word.h"

static int fail(struct lab *lab, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct lab *lab, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(lab->error, sizeof(lab->error), format, args);
	va_end(args);
	utf8_mend_line(lab->error);
	return code;
}

/* ---------------------------------------------------------------- one board */

static bool is_usb_id(const char *usb)
{
	const char *colon = strchr(usb, ':');
	char vendor[5];

	if (!colon || colon - usb != 4)
		return false;
	snprintf(vendor, sizeof(vendor), "%.4s", usb);
	return word_is_hex(vendor, 4) && word_is_hex(colon + 1, 4);
}

/* A key that says nothing to a driver would be obeyed by nobody. */
static int refuse_key(struct document *document, const struct document_node *node, const char *key,
	const char *driver)
{
	return document_fail(
		document, node, key, "the %s driver does not take it; expected none", driver);
}

static int check_port_name(struct document *document, const struct document_node *node,
	const struct link_config *link, enum link_place place)
{
	bool has_match = document_find(node, "match") != NULL;

	if (place != LINK_PLACE_MATCH && has_match)
		return document_fail(document, node, "match", "a %s %s", link->driver,
			place == LINK_PLACE_PATH ? "has no USB identity; expected \"path\""
						 : "port is no USB adapter; expected \"address\"");
	if (place == LINK_PLACE_ADDRESS ? link->path != NULL : link->address != NULL)
		return refuse_key(document, node, place == LINK_PLACE_ADDRESS ? "path" : "address",
			link->driver);
	if (link->path || link->address || has_match)
		return 0;
	return document_fail(document, node, NULL, "the port is not named; expected %s",
		place == LINK_PLACE_PATH    ? "\"path\""
		: place == LINK_PLACE_MATCH ? "\"match\" or \"path\""
					    : "\"address\"");
}

/* `node` holds the link's keys. */
static int check_link(
	struct document *document, const struct document_node *node, struct link_config *link)
{
	bool has_match = document_find(node, "match") != NULL;
	char path[512], error[256];
	int result;

	if (has_match && !link->usb && !link->usb_serial && !link->usb_path)
		return document_fail(document, node, "match",
			"is empty; expected \"usb\", \"serial\" or \"path\" in it");
	if (link->usb && !is_usb_id(link->usb))
		return document_fail(document, document_find(node, "match"), "usb",
			"\"%s\" is no USB id; expected VENDOR:PRODUCT in hex, like \"0403:6001\"",
			link->usb);
	result = check_port_name(document, node, link, link_find_place(link->driver));
	if (result)
		return result;
	if (link->address && link_resolve(link, path, sizeof(path), error, sizeof(error)) != 0)
		return document_fail(document, node, "address",
			"\"%s\" is no address; expected HOST:PORT, like \"ser2net.lab:2001\"",
			link->address);
	if (link->path)
		link->path = document_resolve(document, link->path);
	return !link->path && !link->address && !has_match ? -ENOMEM : 0;
}

static int check_relay_port(
	struct document *document, const struct document_node *node, struct lab_board *board)
{
	const struct document_node *port = document_find(node, "port");

	if (port && document_find(node, "match"))
		return document_fail(document, node, "match",
			"the relay's port is named twice; expected \"port\" or \"match\", not both");
	if (!port && !document_find(node, "match"))
		return document_fail(document, node, NULL,
			"the relay's port is not named; expected \"port\" or \"match\"");
	if (!port)
		board->power.port.driver = "serial";
	return check_link(document, port ? port : node, &board->power.port);
}

/* Keys that depend on the driver: what it needs, what it may have. */
static int check_power_keys(
	struct document *document, const struct document_node *node, struct power_config *power)
{
	static const struct {
		unsigned bit;
		const char *key;
	} rows[] = {
		{POWER_NEED_PORT, "port"},
		{POWER_NEED_PORT, "match"},
		{POWER_NEED_URL, "url"},
		{POWER_NEED_DEVICE, "device"},
		{POWER_NEED_COMMAND, "command"},
		{POWER_NEED_PASSWORD, "user"},
		{POWER_NEED_PASSWORD, "password_file"},
		{POWER_NEED_PASSWORD, "password_env"},
	};
	unsigned needs = 0, takes = 0, channels = 1;

	power_find_needs(power->driver, &needs, &takes, &channels);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool has = document_find(node, rows[i].key) != NULL;

		if (has && !((needs | takes) & rows[i].bit))
			return refuse_key(document, node, rows[i].key, power->driver);
		if (!has && needs & rows[i].bit && rows[i].bit != POWER_NEED_PORT)
			return document_fail(document, node, NULL,
				"the %s driver needs \"%s\"; expected it here", power->driver,
				rows[i].key);
	}
	if (power->channel > channels)
		return document_fail(document, node, "channel",
			"%u is out of range; expected 1 to %u of the %s driver", power->channel,
			channels, power->driver);
	if (power->password_file && power->password_env)
		return document_fail(document, node, "password_env",
			"the password is named twice; expected \"password_file\" or "
			"\"password_env\", not both");
	return 0;
}

static int check_url(struct document *document, const struct document_node *node, const char *url)
{
	const char *host = !strncmp(url, "http://", 7)	  ? url + 7
			   : !strncmp(url, "https://", 8) ? url + 8
							  : NULL;

	if (!host || !*host || strpbrk(url, " \t\r\n?#"))
		return document_fail(document, node, "url",
			"is no url of a device; expected one like \"http://plug.lab\"");
	/* Lab files are shown, copied and committed. */
	if (memchr(host, '@', strcspn(host, "/")))
		return document_fail(document, node, "url",
			"has a user or a password in it; expected \"user\" and "
			"\"password_file\" or \"password_env\"");
	return 0;
}

static int check_power(
	struct document *document, const struct document_node *node, struct lab_board *board)
{
	struct power_config *power = &board->power;
	unsigned needs = 0, takes, channels;
	int result = check_power_keys(document, node, power);

	if (result)
		return result;
	power_find_needs(power->driver, &needs, &takes, &channels);
	if (needs & POWER_NEED_PORT)
		return check_relay_port(document, node, board);
	if (power->url)
		result = check_url(document, node, power->url);
	if (!result && power->password_file)
		power->password_file = document_resolve(document, power->password_file);
	if (!result && power->command && strchr(power->command, '/'))
		power->command = document_resolve(document, power->command);
	return result;
}

static int check_sdmux(
	struct document *document, const struct document_node *node, struct lab_board *board)
{
	struct sdmux_config *mux = &board->sdmux;

	bool device = false, command = false;

	board->has_sdmux = node != NULL;
	if (!node)
		return 0;
	sdmux_find_needs(mux->driver, &device, &command);
	if ((device && !mux->device) || (command && !mux->command))
		return document_fail(document, node, NULL,
			"the %s driver needs \"%s\"; expected it here", mux->driver,
			device && !mux->device ? "device" : "command");
	if (mux->command && strchr(mux->command, '/')) {
		mux->command = document_resolve(document, mux->command);
		if (!mux->command)
			return -ENOMEM;
	}
	if (mux->device && strchr(mux->device, '/'))
		mux->device = document_resolve(document, mux->device);
	else if (mux->device && !strcmp(mux->driver, "usbsdmux"))
		mux->device = document_format(document, "/dev/usb-sd-mux/%s", mux->device);
	board->card.device = document_resolve(document, board->card.device);
	return (mux->device || !device) && board->card.device ? 0 : -ENOMEM;
}

static unsigned hex_digit(char c)
{
	return c <= '9' ? (unsigned)(c - '0') : ((unsigned)c | 0x20) - 'a' + 10;
}

static int check_loader(
	struct document *document, const struct document_node *node, struct lab_file_board *written)
{
	struct loader_config *loader = &written->board.loader;
	const char *hex = written->interrupt_hex;
	size_t length = hex ? strlen(hex) : 0;

	if (!hex)
		return 0;
	if (length % 2 || !length || length > sizeof(loader->interrupt) * 2 ||
		!word_is_hex(hex, length))
		return document_fail(document, node, "interrupt_hex",
			"\"%s\" is no key; expected 1 to %zu bytes in hex, like \"20\" for a space",
			hex, sizeof(loader->interrupt));
	for (size_t i = 0; i < length / 2; i++)
		loader->interrupt[i] =
			(unsigned char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	loader->interrupt_size = length / 2;
	return 0;
}

static bool is_equal(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_same_port(const struct link_config *a, const struct link_config *b)
{
	return is_equal(a->path, b->path) && is_equal(a->address, b->address) &&
	       is_equal(a->usb, b->usb) && is_equal(a->usb_serial, b->usb_serial) &&
	       is_equal(a->usb_path, b->usb_path);
}

/* What needs a port is told apart by that, others by where and which they are. */
static bool is_same_switch(const struct power_config *a, const struct power_config *b)
{
	return a->channel == b->channel && is_equal(a->driver, b->driver) &&
	       is_equal(a->url, b->url) && is_equal(a->device, b->device) &&
	       is_equal(a->command, b->command) && is_same_port(&a->port, &b->port);
}

static int check_rates(
	struct document *document, const struct document_node *node, const struct lab_board *board)
{
	if (strcmp(board->console.driver, "tcp") != 0 || !board->max_baud)
		return 0;
	return document_fail(document, node, "max_baud",
		"a tcp port has the one rate of its server; expected the driver \"rfc2217\" with it");
}

static int check_board(struct document *document, struct lab_file_board *written)
{
	struct lab_board *board = &written->board;
	const struct document_node *node = board->node;
	int result;

	if (!word_is_name(board->name))
		return document_fail(document, node, NULL,
			"\"%s\" is no name of a board; expected " WORD_NAME_RULE, board->name);
	/* Without an adapter in between bytes are there at once. */
	if (!strcmp(board->console.driver, "pty") &&
		!document_find(document_find(node, "console"), "latency_ms"))
		board->latency_ms = 1;
	result = check_link(document, document_find(node, "console"), &board->console);
	if (!result)
		result = check_rates(document, document_find(node, "console"), board);
	if (!result)
		result = check_power(document, document_find(node, "power"), board);
	if (!result)
		result = check_sdmux(document, document_find(node, "sdmux"), board);
	if (!result)
		result = check_loader(document, document_find(node, "loader"), written);
	if (!result && board->power.port.driver &&
		is_same_port(&board->console, &board->power.port))
		return document_fail(document, node, "power",
			"the relay has the console's port; expected another one");
	return result;
}

/* Wires belong to one board each. */
static int check_pair(
	struct document *document, const struct lab_board *board, const struct lab_board *other)
{
	if (is_same_port(&board->console, &other->console))
		return document_fail(document, board->node, "console",
			"the same port as of board %s in line %u; expected another one",
			other->name, document_line(other->node));
	if (is_same_switch(&board->power, &other->power))
		return document_fail(document, board->node, "power",
			"the same relay channel as of board %s in line %u; expected another one",
			other->name, document_line(other->node));
	if (board->has_sdmux && other->has_sdmux &&
		is_equal(board->sdmux.device, other->sdmux.device) &&
		is_equal(board->sdmux.command, other->sdmux.command))
		return document_fail(document, board->node, "sdmux",
			"the same mux as of board %s in line %u; expected another one", other->name,
			document_line(other->node));
	return 0;
}

/* ----------------------------------------------------------------- the file */

/* Rules that an earlier board has too are one object: 64 copies of them are 40 MiB. */
static struct bootrules *find_rules(const struct lab *lab, size_t before, const char *path)
{
	for (size_t i = 0; i < before; i++) {
		const char *other = lab->boards[i].rules_path;

		if (path == other || (path && other && strcmp(path, other) == 0))
			return lab->boards[i].rules;
	}
	return NULL;
}

static int open_rules(struct lab *lab, size_t index)
{
	struct document *document = lab->document;
	struct lab_board *board = &lab->boards[index];
	const char *path = NULL;
	int result;

	board->rules = find_rules(lab, index, board->rules_path);
	if (board->rules)
		return 0;
	if (board->rules_path) {
		path = document_resolve(document, board->rules_path);
		if (!path)
			return -ENOMEM;
	}
	result = bootrules_open(&board->rules, path);
	if (result && result != -ENOMEM)
		document_fail(document, board->node, "rules", "%s", bootrules_error(board->rules));
	return result;
}

static int fill(struct lab *lab)
{
	struct lab_file file = {0};
	int result = document_read(lab->document, &lab_shape, &file);

	lab->path = document_path(lab->document);
	if (result)
		return result;
	lab->boards = document_allocate(lab->document, file.board_count * sizeof(*lab->boards));
	if (!lab->boards)
		return -ENOMEM;
	for (size_t i = 0; i < file.board_count; i++) {
		result = check_board(lab->document, &file.boards[i]);
		for (size_t k = 0; !result && k < i; k++)
			result = check_pair(lab->document, &file.boards[i].board, &lab->boards[k]);
		if (result)
			return result;
		lab->boards[i] = file.boards[i].board;
		lab->board_count = i + 1;
		result = open_rules(lab, i);
		if (result)
			return result;
	}
	return 0;
}

static void close_boards(struct lab *lab)
{
	for (size_t i = 0; i < lab->board_count; i++)
		if (!find_rules(lab, i, lab->boards[i].rules_path))
			bootrules_close(lab->boards[i].rules);
	lab->board_count = 0;
}

static int finish(struct lab *lab, int result)
{
	if (!result)
		result = fill(lab);
	if (!result)
		return 0;
	close_boards(lab);
	return fail(lab, result, "%s",
		result == -ENOMEM ? "out of memory" : document_error(lab->document));
}

int lab_parse(struct lab **parsed, const char *name, const char *text, size_t size)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	*parsed = lab;
	if (!lab)
		return -ENOMEM;
	return finish(lab, document_parse(&lab->document, name, text, size));
}

/* *path is the caller's. */
static int find_file(struct lab *lab, char **path)
{
	const char *named = getenv("SAMEBOARD_LAB");
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	int length;

	*path = NULL;
	if (named && *named)
		return (*path = strdup(named)) ? 0 : -ENOMEM;
	if (!access("lab.json", F_OK))
		return (*path = strdup("lab.json")) ? 0 : -ENOMEM;
	if (config && *config)
		length = asprintf(path, "%s/sameboard/lab.json", config);
	else
		length = asprintf(path, "%s/.config/sameboard/lab.json", home ? home : "");
	if (length < 0) {
		*path = NULL;
		return -ENOMEM;
	}
	if (!access(*path, F_OK))
		return 0;
	return fail(lab, -ENOENT,
		"there is no lab file: $SAMEBOARD_LAB is not set, and neither ./lab.json nor %s "
		"exists; write one, or name it by --lab FILE",
		*path);
}

int lab_open(struct lab **opened, const char *path)
{
	struct lab *lab = calloc(1, sizeof(*lab));
	char *found = NULL;
	int result = 0;

	*opened = lab;
	if (!lab)
		return -ENOMEM;
	if (!path)
		result = find_file(lab, &found);
	if (!result)
		result = finish(lab, document_open(&lab->document, path ? path : found));
	free(found);
	return result;
}

void lab_close(struct lab *lab)
{
	if (!lab)
		return;
	close_boards(lab);
	document_close(lab->document);
	free(lab);
}

const char *lab_error(const struct lab *lab)
{
	return lab ? lab->error : "out of memory";
}

const struct lab_board *lab_find_board(struct lab *lab, const char *name)
{
	const char **words;
	const char *nearest;
	char text[512];

	if (!name && lab->board_count == 1)
		return &lab->boards[0];
	words = document_allocate(lab->document, (lab->board_count + 1) * sizeof(*words));
	for (size_t i = 0; i < lab->board_count; i++) {
		if (name && !strcmp(lab->boards[i].name, name))
			return &lab->boards[i];
		if (words)
			words[i] = lab->boards[i].name;
	}
	if (!words) {
		fail(lab, -ENOMEM, "out of memory");
		return NULL;
	}
	word_join(words, text, sizeof(text));
	nearest = name ? document_nearest(name, words) : NULL;
	if (!name)
		fail(lab, -EINVAL, "%s: no board is named, and there are %zu; expected %s",
			lab->path, lab->board_count, text);
	else if (nearest)
		fail(lab, -ENOENT, "%s: there is no board \"%s\"; did you mean \"%s\"?", lab->path,
			name, nearest);
	else
		fail(lab, -ENOENT, "%s: there is no board \"%s\"; expected %s", lab->path, name,
			text);
	return NULL;
}
