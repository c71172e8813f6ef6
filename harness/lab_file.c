/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/lab_file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const link_words[] = {"serial", "pty", "tcp", "rfc2217", NULL};
static const char *const power_words[] = {
	"lcus", "dcthid", "uhubctl", "tasmota", "shelly1", "shelly2", "pdudaemon", "command", NULL};
static const char *const sdmux_words[] = {"usbsdmux", "sd-mux-ctrl", "sdwire", "command", NULL};
static const char *const rest_words[] = {"off", "on", NULL};
static const char *const time_words[] = {"real", "icount", NULL};

/* Which USB adapter; its struct is the link's. */
static const struct document_key match_keys[] = {
	{.name = "usb",
		.kind = DOCUMENT_STRING,
		.expected = "VENDOR:PRODUCT in hex, like \"0403:6001\"",
		DOCUMENT_AT(struct link_config, usb)},
	{.name = "serial",
		.kind = DOCUMENT_STRING,
		.expected = "the adapter's serial number",
		DOCUMENT_AT(struct link_config, usb_serial)},
	{.name = "path",
		.kind = DOCUMENT_STRING,
		.expected = "where it is plugged, like \"usb-0:3:1.0\"",
		DOCUMENT_AT(struct link_config, usb_path)},
};

static const struct document_shape match_shape = {
	.noun = "a match",
	.keys = match_keys,
	.key_count = COUNT(match_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

/* The keys of a link inside a struct that holds one at `member`. */
#define LINK_KEYS(type, member)                                                                    \
	{.name = "driver",                                                                         \
		.kind = DOCUMENT_CHOICE,                                                           \
		.required = true,                                                                  \
		.words = link_words,                                                               \
		DOCUMENT_AT(type, member.driver)},                                                 \
		{.name = "path",                                                                   \
			.kind = DOCUMENT_STRING,                                                   \
			.expected = "the path of a serial port",                                   \
			DOCUMENT_AT(type, member.path)},                                           \
		{.name = "address",                                                                \
			.kind = DOCUMENT_STRING,                                                   \
			.expected = "HOST:PORT",                                                   \
			DOCUMENT_AT(type, member.address)},                                        \
		{.name = "match",                                                                  \
			.kind = DOCUMENT_OBJECT,                                                   \
			.shape = &match_shape,                                                     \
			DOCUMENT_AT(type, member)},                                                \
	{                                                                                          \
		.name = "baud", .kind = DOCUMENT_INTEGER, .min = 300, .max = 4000000,              \
		.unit = "baud", DOCUMENT_AT(type, member.baud)                                     \
	}

static const struct document_key console_keys[] = {
	LINK_KEYS(struct lab_board, console),
	{.name = "latency_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 1000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_board, latency_ms)},
	{.name = "reopen_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 0,
		.max = 60000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_board, console.reopen_ms)},
	{.name = "max_baud",
		.kind = DOCUMENT_INTEGER,
		.min = 115200,
		.max = 4000000,
		.unit = "baud",
		DOCUMENT_AT(struct lab_board, max_baud)},
};

static const struct document_shape console_shape = {
	.noun = "a console",
	.keys = console_keys,
	.key_count = COUNT(console_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

struct port {
	struct link_config link;
};

static const struct document_key port_keys[] = {LINK_KEYS(struct port, link)};

static const struct document_shape port_shape = {
	.noun = "a port",
	.keys = port_keys,
	.key_count = COUNT(port_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key power_keys[] = {
	{.name = "driver",
		.kind = DOCUMENT_CHOICE,
		.required = true,
		.words = power_words,
		DOCUMENT_AT(struct power_config, driver)},
	{.name = "channel",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 65535,
		DOCUMENT_AT(struct power_config, channel)},
	{.name = "port",
		.kind = DOCUMENT_OBJECT,
		.shape = &port_shape,
		DOCUMENT_AT(struct power_config, port)},
	{.name = "match",
		.kind = DOCUMENT_OBJECT,
		.shape = &match_shape,
		DOCUMENT_AT(struct power_config, port)},
	{.name = "url",
		.kind = DOCUMENT_STRING,
		.expected = "an url, like \"http://plug.lab\"",
		DOCUMENT_AT(struct power_config, url)},
	{.name = "device",
		.kind = DOCUMENT_STRING,
		.expected = "a hub's location, a relay's id or a PDU's name",
		DOCUMENT_AT(struct power_config, device)},
	{.name = "command",
		.kind = DOCUMENT_STRING,
		.expected = "a program",
		DOCUMENT_AT(struct power_config, command)},
	{.name = "user",
		.kind = DOCUMENT_STRING,
		.expected = "a user's name",
		DOCUMENT_AT(struct power_config, user)},
	{.name = "password_file",
		.kind = DOCUMENT_STRING,
		.expected = "a file with the password",
		DOCUMENT_AT(struct power_config, password_file)},
	{.name = "password_env",
		.kind = DOCUMENT_STRING,
		.expected = "the name of a variable of the environment",
		DOCUMENT_AT(struct power_config, password_env)},
	{.name = "off_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 100,
		.max = 600000,
		.unit = "ms",
		DOCUMENT_AT(struct power_config, off_ms)},
	{.name = "answer_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 10,
		.max = 60000,
		.unit = "ms",
		DOCUMENT_AT(struct power_config, answer_ms)},
	{.name = "silent", .kind = DOCUMENT_BOOLEAN, DOCUMENT_AT(struct power_config, silent)},
};

static const struct document_shape power_shape = {
	.noun = "a power switch",
	.keys = power_keys,
	.key_count = COUNT(power_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key sdmux_keys[] = {
	{.name = "driver",
		.kind = DOCUMENT_CHOICE,
		.required = true,
		.words = sdmux_words,
		DOCUMENT_AT(struct lab_board, sdmux.driver)},
	{.name = "command",
		.kind = DOCUMENT_STRING,
		.expected = "a program",
		DOCUMENT_AT(struct lab_board, sdmux.command)},
	{.name = "device",
		.kind = DOCUMENT_STRING,
		.expected = "the mux, like \"id-0001\" or a path",
		DOCUMENT_AT(struct lab_board, sdmux.device)},
	{.name = "card",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "the card by a stable name, like \"/dev/disk/by-id/...\"",
		DOCUMENT_AT(struct lab_board, card.device)},
	{.name = "card_bytes",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 0x1p50,
		.unit = "bytes",
		DOCUMENT_AT(struct lab_board, card.size_bytes)},
	{.name = "allow_fixed_disk",
		.kind = DOCUMENT_BOOLEAN,
		DOCUMENT_AT(struct lab_board, card.fixed_disk_allowed)},
	{.name = "appear_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 100,
		.max = 600000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_board, card.appear_ms)},
	{.name = "timeout_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 100,
		.max = 600000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_board, sdmux.timeout_ms)},
};

static const struct document_shape sdmux_shape = {
	.noun = "an SD mux",
	.keys = sdmux_keys,
	.key_count = COUNT(sdmux_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key loader_keys[] = {
	{.name = "prompt",
		.kind = DOCUMENT_STRING,
		.expected = "the loader's prompt, like \"=> \"",
		DOCUMENT_AT(struct lab_file_board, board.loader.prompt)},
	{.name = "interrupt_hex",
		.kind = DOCUMENT_STRING,
		.expected = "bytes in hex, like \"20\"",
		DOCUMENT_AT(struct lab_file_board, interrupt_hex)},
	{.name = "interrupt_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 1,
		.max = 10000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_file_board, board.loader.interrupt_ms)},
	{.name = "command_ms",
		.kind = DOCUMENT_INTEGER,
		.min = 100,
		.max = 600000,
		.unit = "ms",
		DOCUMENT_AT(struct lab_file_board, board.loader.command_ms)},
};

static const struct document_shape loader_shape = {
	.noun = "a loader",
	.keys = loader_keys,
	.key_count = COUNT(loader_keys),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};

static const struct document_key board_keys[] = {
	{.name = "model",
		.kind = DOCUMENT_STRING,
		.required = true,
		.expected = "a model, like \"lichee-rv-86-panel\"",
		DOCUMENT_AT(struct lab_file_board, board.model)},
	{.name = "console",
		.kind = DOCUMENT_OBJECT,
		.required = true,
		.shape = &console_shape,
		DOCUMENT_AT(struct lab_file_board, board)},
	{.name = "power",
		.kind = DOCUMENT_OBJECT,
		.required = true,
		.shape = &power_shape,
		DOCUMENT_AT(struct lab_file_board, board.power)},
	{.name = "sdmux",
		.kind = DOCUMENT_OBJECT,
		.shape = &sdmux_shape,
		DOCUMENT_AT(struct lab_file_board, board)},
	{.name = "loader",
		.kind = DOCUMENT_OBJECT,
		.shape = &loader_shape,
		DOCUMENT_AT(struct lab_file_board, board)},
	{.name = "rest",
		.kind = DOCUMENT_WORD,
		.words = rest_words,
		DOCUMENT_AT(struct lab_file_board, board.rest)},
	{.name = "time",
		.kind = DOCUMENT_WORD,
		.words = time_words,
		DOCUMENT_AT(struct lab_file_board, board.time)},
	{.name = "rules",
		.kind = DOCUMENT_STRING,
		.expected = "a file of rules for the boot watcher",
		DOCUMENT_AT(struct lab_file_board, board.rules_path)},
};

/* A space stops U-Boot; 16 ms is an FTDI adapter as it comes. */
static const struct lab_file_board board_defaults = {
	.board = {
		.console = {.baud = 115200, .reopen_ms = 5000},
		.latency_ms = 16,
		.power = {.channel = 1, .off_ms = 2000},
		.loader = {.prompt = "=> ", .interrupt = " ", .interrupt_size = 1},
		.rest = LAB_REST_OFF,
	}};

static const struct document_shape board_shape = {
	.noun = "a board",
	.keys = board_keys,
	.key_count = COUNT(board_keys),
	.size = sizeof(struct lab_file_board),
	.defaults = &board_defaults,
	.name_offset = offsetof(struct lab_file_board, board.name),
	.node_offset = offsetof(struct lab_file_board, board.node),
};

static const struct document_key lab_keys[] = {
	{.name = "boards",
		.kind = DOCUMENT_MAP,
		.required = true,
		.min = 1,
		.max = 64,
		.shape = &board_shape,
		DOCUMENT_AT(struct lab_file, boards),
		.count_offset = offsetof(struct lab_file, board_count)},
};

const struct document_shape lab_shape = {
	.noun = "a lab",
	.keys = lab_keys,
	.key_count = COUNT(lab_keys),
	.size = sizeof(struct lab_file),
	.name_offset = SIZE_MAX,
	.node_offset = SIZE_MAX,
};
