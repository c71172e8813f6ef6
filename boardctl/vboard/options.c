/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "boardctl/vboard/qemu.h"

enum options_key {
	OPTIONS_DIR = 256,
	OPTIONS_CARD,
	OPTIONS_UBOOT,
	OPTIONS_BIOS,
	OPTIONS_SEED,
	OPTIONS_FAULT,
	OPTIONS_MEMORY,
	OPTIONS_TIME,
	OPTIONS_UART_CLOCK,
	OPTIONS_HELP_KEY,
	OPTIONS_VERSION_KEY,
};

static const struct option options_long[] = {
	{"dir", required_argument, NULL, OPTIONS_DIR},
	{"card", required_argument, NULL, OPTIONS_CARD},
	{"uboot", required_argument, NULL, OPTIONS_UBOOT},
	{"bios", required_argument, NULL, OPTIONS_BIOS},
	{"seed", required_argument, NULL, OPTIONS_SEED},
	{"fault", required_argument, NULL, OPTIONS_FAULT},
	{"memory", required_argument, NULL, OPTIONS_MEMORY},
	{"time", required_argument, NULL, OPTIONS_TIME},
	{"uart-clock", required_argument, NULL, OPTIONS_UART_CLOCK},
	{"help", no_argument, NULL, OPTIONS_HELP_KEY},
	{"version", no_argument, NULL, OPTIONS_VERSION_KEY},
	{NULL, 0, NULL, 0},
};

static const char *const options_help[] = {
	"usage: vboard --dir DIR --card FILE [option...]",
	"",
	"A virtual Lichee RV 86 Panel behind the wires of a real one: DIR/uart and DIR/relay are",
	"serial ports, vboard-sdmux DIR switches the card, which appears as DIR/card at the host.",
	"It prints \"ready DIR\" and runs until SIGTERM or SIGINT; DIR/log tells what happened.",
	"",
	"  --dir DIR      where the board's wires appear; made if missing",
	"  --card FILE    the SD card, an image of a power of two in size",
	"  --uboot FILE   U-Boot (default: $SAMEBOARD_UBOOT, then build/images/u-boot.bin, or",
	"                 u-boot-autoboot.bin with --time icount)",
	"  --bios FILE    OpenSBI (default: the emulator's own)",
	"  --memory MB    RAM (default: 512)",
	"  --seed N       what the faults' random damage follows from (default: 1)",
	"  --fault LIST   comma-separated faults, listed below",
	"  --time TIME    the board's clock: real, or icount (executed instructions: runs",
	"                 repeat; the board must need nothing from the host until it is done)",
	"  --uart-clock HZ  clock of the UART: 3686400 (default) gives up to 230400 baud,",
	"                 24000000 the rates of the real board, up to 1500000",
	"  --help         this text",
	"  --version      the version",
	"",
	"exit codes: 0 ended as asked, 2 wrong usage, 3 the machine could not give a board",
	"",
	"faults:",
};

#define OPTIONS_HELP_LINES (sizeof(options_help) / sizeof(options_help[0]))

const char *options_get_help(unsigned index)
{
	static char line[120];
	const struct fault_help *help;

	if (index < OPTIONS_HELP_LINES)
		return options_help[index];
	help = fault_get_help(index - OPTIONS_HELP_LINES);
	if (!help)
		return NULL;
	snprintf(line, sizeof(line), "  %-18s %s", help->form, help->text);
	return line;
}

static int options_fail(char *error, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int options_fail(char *error, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, size, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int options_parse_number(const char *text, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 0);
	return errno || end == text || *end || strchr(text, '-') ? -EINVAL : 0;
}

static int options_take(struct options *options, int key, char *error, size_t size)
{
	uint64_t number;

	switch (key) {
	case OPTIONS_DIR:
		options->dir = optarg;
		return 0;
	case OPTIONS_CARD:
		if (!realpath(optarg, options->card))
			return options_fail(
				error, size, "--card %s: there is no such file", optarg);
		return 0;
	case OPTIONS_UBOOT:
		if (!realpath(optarg, options->uboot))
			return options_fail(
				error, size, "--uboot %s: there is no such file", optarg);
		return 0;
	case OPTIONS_BIOS:
		options->bios = optarg;
		return 0;
	case OPTIONS_SEED:
		if (options_parse_number(optarg, &options->faults.seed) < 0)
			return options_fail(
				error, size, "--seed %s: not a number of 64 bits", optarg);
		return 0;
	case OPTIONS_FAULT:
		return fault_parse(&options->faults, optarg, error, size);
	case OPTIONS_MEMORY:
		if (options_parse_number(optarg, &number) < 0 || number < 64 || number > 8192)
			return options_fail(
				error, size, "--memory %s: not a number of 64 to 8192 MB", optarg);
		options->memory_mb = (unsigned)number;
		return 0;
	case OPTIONS_TIME:
		options->is_icount = strcmp(optarg, "icount") == 0;
		if (!options->is_icount && strcmp(optarg, "real") != 0)
			return options_fail(
				error, size, "--time %s: the times are real and icount", optarg);
		return 0;
	case OPTIONS_UART_CLOCK:
		if (options_parse_number(optarg, &number) < 0 || number < 1843200 ||
			number > 64000000)
			return options_fail(error, size,
				"--uart-clock %s: not a rate of 1843200 to 64000000 Hz", optarg);
		options->uart_hz = (unsigned)number;
		return 0;
	case OPTIONS_HELP_KEY:
		options->action = OPTIONS_HELP;
		return 0;
	case OPTIONS_VERSION_KEY:
		options->action = OPTIONS_VERSION;
		return 0;
	default:
		return options_fail(error, size, "wrong option; see vboard --help");
	}
}

/* Beside the program when it is run from a build tree, plain or with sanitizers. */
static bool options_find_uboot(char *path, const char *file)
{
	static const char *const places[] = {"images", "../images", "../build/images"};
	const char *named = getenv("SAMEBOARD_UBOOT");
	char self[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t length;

	if (named && *named)
		return realpath(named, path) != NULL;
	snprintf(candidate, sizeof(candidate), "build/images/%s", file);
	if (realpath(candidate, path))
		return true;
	length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (length < 0)
		return false;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (unsigned i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s/%s", self, places[i], file);
		if (realpath(candidate, path))
			return true;
	}
	return false;
}

static int options_check(struct options *options, char *error, size_t size)
{
	struct stat card;

	if (!options->dir)
		return options_fail(
			error, size, "--dir DIR is missing: where the board's wires appear");
	if (!options->card[0])
		return options_fail(error, size,
			"--card FILE is missing: the SD card's image, a power of two in size");
	if (stat(options->card, &card) < 0 || !S_ISREG(card.st_mode))
		return options_fail(error, size, "--card %s: not a file", options->card);
	if (card.st_size < 1024 * 1024 || (card.st_size & (card.st_size - 1)))
		return options_fail(error, size,
			"--card %s: its size must be a power of two, 1 MiB or more (truncate -s)",
			options->card);
	if (!options->uboot[0] &&
		!options_find_uboot(
			options->uboot, options->is_icount ? "u-boot-autoboot.bin" : "u-boot.bin"))
		return options_fail(error, size,
			"no U-Boot: give --uboot FILE or $SAMEBOARD_UBOOT, or run make images");
	return 0;
}

int options_parse(struct options *options, int argc, char **argv, char *error, size_t error_size)
{
	int key;

	memset(options, 0, sizeof(*options));
	options->bios = "default";
	options->memory_mb = 512;
	options->uart_hz = QEMU_UART_CLOCK_HZ;
	options->faults.seed = 1;
	opterr = 0;
	while ((key = getopt_long(argc, argv, "", options_long, NULL)) != -1) {
		int result;
		if (key == '?' || key == ':')
			return options_fail(error, error_size,
				"wrong or incomplete option %s; see vboard --help",
				argv[optind - 1]);
		result = options_take(options, key, error, error_size);
		if (result < 0)
			return result;
		if (options->action != OPTIONS_RUN)
			return 0;
	}
	if (optind < argc)
		return options_fail(
			error, error_size, "unexpected '%s'; see vboard --help", argv[optind]);
	return options_check(options, error, error_size);
}
