/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/linux/bench.h"
#include "agents/linux/file.h"
#include "agents/linux/port.h"

#define ARENA_DEFAULT_KB 8192u
#define STACK_TOUCHED	 (64u * 1024)
#define PLAN_MAX_BYTES	 65536

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
	const char *plan; /* a file, NULL: none */
	bool is_bench;	  /* one window without a host */
	struct bench_request bench;
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
	{{"plan", required_argument, NULL, 'p'}, "FILE",
		"measure its windows before the first word"},
	{{"overlay", required_argument, NULL, 'o'}, "DIR",
		"for tests: its files stand before those of /proc, /sys and /dev"},
	{{"samples", required_argument, NULL, 'n'}, "N", "of bench (default: 20000)"},
	{{"period", required_argument, NULL, 'P'}, "US", "of bench (default: 1000)"},
	{{"seconds", required_argument, NULL, 'S'}, "S",
		"of benchmarks that last a time (default: 20)"},
	{{"arbitrary", no_argument, NULL, 'A'}, "", "of bench: releases between ticks"},
	{{"text", no_argument, NULL, 't'}, "", "of bench: a table (default)"},
	{{"json", no_argument, NULL, 'j'}, "", "of bench: JSON"},
	{{"help", no_argument, NULL, 'h'}, "", "show this and exit"},
	{{"version", no_argument, NULL, 'V'}, "", "show the version and exit"},
};

#define OPTION_COUNT (sizeof(option_table) / sizeof(option_table[0]))

static void print_help(FILE *out)
{
	fputs("usage: sameboard-agent [--console TTY] [--baud RATE]\n"
	      "       sameboard-agent bench NAME [--samples N] [--text | --json]\n\n"
	      "Measures this machine on behalf of a sameboard host at the other end of TTY.\n"
	      "It announces itself once, then only answers; the terminal is raw until the\n"
	      "host says QUIT or 600 s pass without a frame.  With bench it measures one\n"
	      "benchmark of the catalogue without a host, like wake.cpu, and prints it.\n\n",
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

/* A number of that option, or its complaint and the exit code plus one. */
static int take_number(const char *name, const char *text, unsigned long least, unsigned long most,
	unsigned long *number)
{
	if (parse_number(text, least, most, number))
		return 0;
	fprintf(stderr, "sameboard-agent: --%s %s: %lu to %lu\n", name, text, least, most);
	return EXIT_USAGE + 1;
}

static int take_bench_option(struct bench_request *bench, int option, const char *value)
{
	unsigned long number = 0;
	int status = 0;

	switch (option) {
	case 'n':
		status = take_number("samples", value, 1, 10000000, &number);
		bench->n = (uint32_t)number;
		return status;
	case 'P':
		status = take_number("period", value, 50, 1000000, &number);
		bench->period_us = (uint32_t)number;
		return status;
	case 'S':
		status = take_number("seconds", value, 1, 3600, &number);
		bench->duration_ms = (uint32_t)number * 1000;
		return status;
	case 'A':
		bench->is_arbitrary = true;
		return 0;
	case 't':
	case 'j':
		bench->is_json = option == 'j';
		return 0;
	default:
		fputs("Try 'sameboard-agent --help'.\n", stderr);
		return EXIT_USAGE + 1;
	}
}

/* What is no option: nothing, or `bench NAME`. */
static int take_words(int count, char **words, struct options *options)
{
	if (count == 2 && strcmp(words[0], "bench") == 0) {
		options->is_bench = true;
		options->bench.name = words[1];
		return 0;
	}
	if (count == 1 && strcmp(words[0], "bench") == 0)
		fputs("sameboard-agent: bench: which one? For example wake.cpu\n", stderr);
	else if (count > 0)
		fprintf(stderr, "sameboard-agent: %s: no such argument\n", words[0]);
	return count ? EXIT_USAGE + 1 : 0;
}

/* 0 to go on, else the exit code plus one. */
static int parse_options(int argc, char **argv, struct options *options)
{
	struct option longs[OPTION_COUNT + 1] = {{0}};
	unsigned long number;
	int option, status;

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
		case 'p':
			options->plan = optarg;
			break;
		case 'o':
			file_set_overlay(optarg);
			break;
		case 'h':
			print_help(stdout);
			return EXIT_QUIT + 1;
		case 'V':
			puts("sameboard-agent " SAMEBOARD_VERSION);
			return EXIT_QUIT + 1;
		default:
			status = take_bench_option(&options->bench, option, optarg);
			if (status)
				return status;
		}
	}
	return take_words(argc - optind, argv + optind, options);
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

static struct tuning *to_restore;

static void leave(int number)
{
	tuning_restore(to_restore);
	_exit(128 + number);
}

/* A person at a terminal need not wait for the end of a window. */
static void let_signals_end(struct tuning *tuning)
{
	const struct sigaction action = {.sa_handler = leave};
	sigset_t none;

	to_restore = tuning;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
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

/* The plan's bytes, kept for good; without the file the agent just waits for a host. */
static void read_plan(const char *path, struct agent_port *agent)
{
	static uint8_t plan[PLAN_MAX_BYTES];
	size_t size = 0;
	ssize_t got;
	int fd = file_open(path, O_RDONLY);

	if (fd < 0)
		return;
	while (size < sizeof(plan) && (got = read(fd, plan + size, sizeof(plan) - size)) > 0)
		size += (size_t)got;
	close(fd);
	/* Frames begin with 0; a card that nobody wrote a plan to has text there. */
	if (size == 0 || plan[0] != 0)
		return;
	agent->plan = plan;
	agent->plan_size = size;
	/* A board with a plan has time that jumps where nothing is to be done. */
	agent->silence_limit_s = 0;
}

static int answer(struct linux_port *port, const struct options *options)
{
	enum agent_end end;

	if (options->plan)
		read_plan(options->plan, &port->posix.agent);
	end = agent_run(&port->posix.agent);
	if (end == AGENT_END_ARENA)
		fputs("sameboard-agent: the counter's rate is not known on this machine\n", stderr);
	return end == AGENT_END_QUIT || end == AGENT_END_SILENT ? EXIT_QUIT : EXIT_CONSOLE;
}

static int serve(struct console *console, const struct options *options)
{
	size_t size = options->arena_kb * 1024;
	struct linux_port port;
	struct tuning tuning;
	int status;
	uint8_t *memory = mmap(NULL, size + POSIX_STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return EXIT_CONSOLE;
	memset(memory, 0, size + POSIX_STACK_SIZE);
	tuning_apply(&tuning, options->keep_settings);
	port_init(&port, console, &tuning, options->keep_settings);
	port_set_memory(&port, memory, size, memory + size);
	touch_stack_and_heap(memory + size);
	if (options->is_bench)
		let_signals_end(&tuning);
	if (options->is_bench)
		status = bench_run(&port, &options->bench, stdout, stderr) == 0 ? EXIT_QUIT
										: EXIT_USAGE;
	else
		status = answer(&port, options);
	port_fini(&port);
	tuning_restore(&tuning);
	munmap(memory, size + POSIX_STACK_SIZE);
	return status;
}

int main(int argc, char **argv)
{
	struct options options = {.arena_kb = ARENA_DEFAULT_KB, .bench = bench_defaults};
	struct console console = {.input = -1, .output = -1};
	int status = parse_options(argc, argv, &options);

	if (status)
		return status - 1;
	hold_signals();
	if (!options.is_bench && console_open(&console, options.console, options.baud) != 0) {
		fprintf(stderr, "sameboard-agent: %s\n", console_error(&console));
		status = EXIT_CONSOLE;
	} else {
		status = serve(&console, &options);
	}
	console_close(&console);
	return status;
}
