/* SPDX-License-Identifier: Apache-2.0 */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agents/linux/port.h"

#define ARENA_DEFAULT_KB 8192u
#define STACK_TOUCHED	 (64u * 1024)

enum exit_code {
	EXIT_QUIT = 0,
	EXIT_USAGE = 2,
	EXIT_CONSOLE = 3,
};

struct options {
	const char *console;
	unsigned int baud;
	size_t arena_kb;
	bool keep_settings;
};

static const struct {
	struct option option;
	const char *argument;
	const char *help;
} option_table[] = {
	{{"console", required_argument, NULL, 'c'}, "TTY",
		"answer there (default: standard input and output)"},
	{{"baud", required_argument, NULL, 'b'}, "RATE", "set that rate (default: leave it)"},
	{{"arena", required_argument, NULL, 'a'}, "KB", "memory for samples (default: 8192)"},
	{{"keep-settings", no_argument, NULL, 'k'}, "", "leave the system's settings alone"},
	{{"help", no_argument, NULL, 'h'}, "", "show this and exit"},
	{{"version", no_argument, NULL, 'V'}, "", "show the version and exit"},
};

#define OPTION_COUNT (sizeof(option_table) / sizeof(option_table[0]))

static void print_help(FILE *out)
{
	fputs("usage: sameboard-agent [--console TTY] [--baud RATE]\n\n"
	      "Measures this machine on behalf of a sameboard host at the other end of TTY.\n"
	      "It announces itself once, then only answers; the terminal is raw until the\n"
	      "host says QUIT or 600 s pass without a frame.\n\n",
		out);
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		char name[40];

		snprintf(name, sizeof(name), "--%s %s", option_table[i].option.name,
			option_table[i].argument);
		fprintf(out, "  %-20s %s\n", name, option_table[i].help);
	}
}

static bool parse_number(
	const char *text, unsigned long least, unsigned long most, unsigned long *number)
{
	char *end;

	*number = strtoul(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && *number >= least && *number <= most;
}

/* 0 to go on, else the exit code plus one. */
static int parse_options(int argc, char **argv, struct options *options)
{
	struct option longs[OPTION_COUNT + 1] = {{0}};
	unsigned long number;
	int option;

	for (size_t i = 0; i < OPTION_COUNT; i++)
		longs[i] = option_table[i].option;
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			options->console = optarg;
			break;
		case 'b':
			if (!parse_number(optarg, 50, 4000000, &number)) {
				fprintf(stderr, "sameboard-agent: --baud %s: not a rate\n", optarg);
				return EXIT_USAGE + 1;
			}
			options->baud = (unsigned int)number;
			break;
		case 'a':
			if (!parse_number(optarg, 64, 1048576, &number)) {
				fprintf(stderr, "sameboard-agent: --arena %s: 64 to 1048576 KB\n",
					optarg);
				return EXIT_USAGE + 1;
			}
			options->arena_kb = number;
			break;
		case 'k':
			options->keep_settings = true;
			break;
		case 'h':
			print_help(stdout);
			return EXIT_QUIT + 1;
		case 'V':
			puts("sameboard-agent " SAMEBOARD_VERSION);
			return EXIT_QUIT + 1;
		default:
			fputs("Try 'sameboard-agent --help'.\n", stderr);
			return EXIT_USAGE + 1;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "sameboard-agent: %s: no such argument\n", argv[optind]);
		return EXIT_USAGE + 1;
	}
	return 0;
}

static void take_signal(int number)
{
	(void)number;
}

/*
 * A signal is taken only where the console is read: it then ends the agent,
 * which puts everything back, and never disturbs a window.
 */
static void hold_signals(void)
{
	const struct sigaction action = {.sa_handler = take_signal};
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaction(numbers[i], &action, NULL);
		sigaddset(&held, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &held, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void *do_nothing(void *context)
{
	return context;
}

/* What a thread's first start allocates and what the stack needs faults here, in no window. */
static void touch_stack_and_heap(uint8_t *stack)
{
	volatile uint8_t touched[STACK_TOUCHED];
	pthread_attr_t attributes;
	pthread_t thread;

	for (size_t i = 0; i < sizeof(touched); i += 1024)
		touched[i] = 0;
	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstack(&attributes, stack, POSIX_STACK_SIZE);
	if (pthread_create(&thread, &attributes, do_nothing, NULL) == 0)
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

static int serve(struct console *console, const struct options *options)
{
	size_t size = options->arena_kb * 1024;
	struct linux_port port;
	struct tuning tuning;
	enum agent_end end;
	uint8_t *memory = mmap(NULL, size + POSIX_STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return EXIT_CONSOLE;
	memset(memory, 0, size + POSIX_STACK_SIZE);
	tuning_apply(&tuning, options->keep_settings);
	port_init(&port, console, &tuning, options->keep_settings);
	port_set_memory(&port, memory, size, memory + size);
	touch_stack_and_heap(memory + size);
	end = agent_run(&port.posix.agent);
	if (end == AGENT_END_ARENA)
		fputs("sameboard-agent: the counter's rate is not known on this machine\n", stderr);
	port_fini(&port);
	tuning_restore(&tuning);
	munmap(memory, size + POSIX_STACK_SIZE);
	return end == AGENT_END_QUIT || end == AGENT_END_SILENT ? EXIT_QUIT : EXIT_CONSOLE;
}

int main(int argc, char **argv)
{
	struct options options = {.arena_kb = ARENA_DEFAULT_KB};
	struct console console;
	int status = parse_options(argc, argv, &options);

	if (status)
		return status - 1;
	hold_signals();
	if (console_open(&console, options.console, options.baud) != 0) {
		fprintf(stderr, "sameboard-agent: %s\n", console_error(&console));
		status = EXIT_CONSOLE;
	} else {
		status = serve(&console, &options);
	}
	console_close(&console);
	return status;
}
