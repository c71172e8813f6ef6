/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port whose answers are the input: steps of bytes, of nothing, of what a
 * loader would answer to what was typed.  Where the input has ended the port is
 * gone, so that every dialogue ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/loader.h"
#include "boardctl/power.h"
#include "tests/fuzz/fuzz.h"

#define READS_MAX 200000u

enum step {
	STEP_BYTES,
	STEP_NOTHING,
	STEP_ECHO,   /* of what was typed last */
	STEP_ANSWER, /* the whole of an honest loader's */
	STEP_LINE,   /* a new line and what follows */
	STEP_PROMPT,
	STEPS,
};

struct port {
	struct link base;
	struct fuzz_input input;
	uint8_t answer[4096]; /* that is being read */
	size_t begin, end;
	char typed[2048]; /* since the last CR */
	size_t typed_size;
	char last[2048]; /* written last */
	size_t last_size;
	unsigned int reads;
};

/* -------------------------------------------------------------------- port */

static void say(struct port *port, const void *bytes, size_t size)
{
	size_t room = sizeof(port->answer) - port->end;

	size = size < room ? size : room;
	memcpy(port->answer + port->end, bytes, size);
	port->end += size;
}

/* A line `... echo 12""34=$?=$?` prints 1234=0=0. */
static void say_answer(struct port *port)
{
	char marker[32] = "";
	const char *at;

	port->last[port->last_size] = '\0';
	say(port, port->last, strcspn(port->last, "\r"));
	if (!strchr(port->last, '\r'))
		return;
	say(port, "\r\n", 2);
	if (strstr(port->typed, "crc32 "))
		say(port, "crc32 for 0 ... ff ==> cbf43926\r\n", 33);
	at = strstr(port->typed, "\"\"");
	if (at && at - port->typed >= 4 && strlen(at) >= 6)
		snprintf(marker, sizeof(marker), "%.4s%.4s=0=0\r\n", at - 4, at + 2);
	say(port, marker, strlen(marker));
	say(port, "=> ", 3);
}

static void say_step(struct port *port)
{
	const uint8_t *bytes;
	size_t got;

	switch (fuzz_take_byte(&port->input) % STEPS) {
	case STEP_ECHO:
		say(port, port->last, port->last_size);
		break;
	case STEP_ANSWER:
		say_answer(port);
		break;
	case STEP_LINE:
		say(port, "\r\n", 2);
		bytes = fuzz_take_bytes(&port->input, fuzz_take_byte(&port->input) % 64, &got);
		say(port, bytes, got);
		break;
	case STEP_PROMPT:
		say(port, "\r\n=> ", 5);
		break;
	case STEP_BYTES:
		bytes = fuzz_take_bytes(&port->input, fuzz_take_byte(&port->input), &got);
		say(port, bytes, got);
		break;
	default:
		break;
	}
}

static ssize_t port_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	struct port *port = (struct port *)link;
	size_t left;

	(void)timeout_ms;
	FUZZ_EXPECT(++port->reads < READS_MAX);
	if (port->begin == port->end) {
		port->begin = port->end = 0;
		if (port->input.left == 0)
			return fail_format(link->error, sizeof(link->error), -ENODEV, "gone");
		say_step(port);
	}
	left = port->end - port->begin;
	size = size < left ? size : left;
	memcpy(buffer, port->answer + port->begin, size);
	port->begin += size;
	return (ssize_t)size;
}

static int port_write(struct link *link, const void *data, size_t size)
{
	struct port *port = (struct port *)link;

	FUZZ_EXPECT(size < sizeof(port->last));
	memcpy(port->last, data, size);
	port->last_size = size;
	if (memchr(data, '\x03', size))
		port->typed_size = 0;
	else if (size < sizeof(port->typed) - port->typed_size) {
		memcpy(port->typed + port->typed_size, data, size);
		port->typed_size += size;
	}
	port->typed[port->typed_size] = '\0';
	if (memchr(data, '\r', size))
		port->typed_size = 0;
	return 0;
}

static int port_drain(struct link *link)
{
	(void)link;
	return 0;
}

static int port_flush(struct link *link)
{
	((struct port *)link)->begin = ((struct port *)link)->end;
	return 0;
}

static const struct link_driver driver = {
	.name = "fuzz",
	.instance_size = sizeof(struct port),
	.read = port_read,
	.write = port_write,
	.drain = port_drain,
	.flush = port_flush,
};

static void port_init(struct port *port, struct fuzz_input input)
{
	memset(port, 0, sizeof(*port));
	port->base.driver = &driver;
	port->base.is_open = true;
	port->base.baud = UINT32_MAX; /* nothing is waited for */
	snprintf(port->base.path, sizeof(port->base.path), "port");
	port->input = input;
}

/* ---------------------------------------------------------------- dialogues */

static void check(const struct loader *loader, int rc)
{
	FUZZ_EXPECT(rc == 0 || rc == -ENODATA || rc == -ETIMEDOUT || rc == -EPROTO || rc == -EIO ||
		    rc == -EBADMSG || rc == -ECONNRESET || rc == -ENODEV || rc == -EINVAL);
	FUZZ_EXPECT(rc == 0 || loader_error(loader)[0]);
	if (rc)
		fuzz_expect_line(loader_error(loader));
}

static void talk(struct fuzz_input input)
{
	static const struct loader_config config = {
		.interrupt_ms = 1, .command_ms = 2, .echo_ms = 1, .retries = 2};
	static struct watcher watcher;
	static struct port port;
	struct loader *loader;
	char output[64];
	uint32_t crc;
	int rc;

	port_init(&port, input);
	FUZZ_EXPECT(watcher_init(&watcher, &(struct watcher_config){.rules = fuzz_rules()}) == 0);
	watcher_restart(&watcher, 0);
	FUZZ_EXPECT(loader_new(&loader, &port.base, &watcher, &config) == 0);
	check(loader, loader_wait_prompt(loader, 2));
	for (int i = 0; i < 3 && port.input.left > 0; i++) {
		memset(output, 'x', sizeof(output));
		rc = loader_run(loader, "mmc info", output, sizeof(output), 0);
		FUZZ_EXPECT(memchr(output, '\0', sizeof(output)) != NULL);
		check(loader, rc);
		check(loader, loader_crc32(loader, "${kernel_addr_r}", 256, &crc));
		check(loader, loader_check_crc32(loader, "80000000", 256, 0xcbf43926));
	}
	check(loader, loader_boot(loader, "booti ${kernel_addr_r}"));
	loader_free(loader);
}

static void ask_relay(struct fuzz_input input, unsigned channel)
{
	static struct port port;
	struct power power = {.driver = &power_lcus_driver,
		.config = {.channel = channel, .answer_ms = 1},
		.port = &port.base};
	bool on = false;
	int rc;

	port_init(&port, input);
	rc = power_lcus_driver.get(&power, &on);
	FUZZ_EXPECT(rc == 0 || rc == -ETIMEDOUT || rc == -EPROTO || rc == -ENODEV);
	FUZZ_EXPECT((rc == 0) == (power.error[0] == '\0'));
	fuzz_expect_line(power.error);
}

int fuzz_loader(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint8_t head = fuzz_take_byte(&input);

	if (head & 1)
		ask_relay(input, 1 + (head >> 1) % 8);
	else
		talk(input);
	return 0;
}

/* ------------------------------------------------------------------- seeds */

static size_t add(uint8_t *seed, size_t at, enum step step, const char *text)
{
	seed[at++] = (uint8_t)step;
	if (!text)
		return at;
	seed[at++] = (uint8_t)strlen(text);
	memcpy(seed + at, text, strlen(text));
	return at + strlen(text);
}

void fuzz_loader_seeds(fuzz_visit *visit, void *context)
{
	static const char *const relays[] = {"CH1:ON \r\nCH2:OFF \r\n", "CH1:OFF\r\n", "CH1:O",
		"\x1b[2JU-Boot> ", "CH2: ON\r\nCH1: OFF \r\n", "\xff\xff\x80"};
	static const char banner[] = "U-Boot 2023.01\r\nHit any key to stop autoboot: 2 ";
	uint8_t seed[1024];
	size_t size;

	for (size_t i = 0; i < sizeof(relays) / sizeof(relays[0]); i++) {
		seed[0] = 1;
		visit(context, seed, add(seed, 1, STEP_BYTES, relays[i]));
	}
	/* An honest loader to the end, and one that goes wrong at each step. */
	for (size_t steps = 0; steps < 60; steps += 3) {
		seed[0] = 0;
		size = add(seed, 1, STEP_BYTES, banner);
		size = add(seed, size, STEP_PROMPT, NULL);
		for (size_t i = 0; i < steps; i++)
			size = add(seed, size, STEP_ANSWER, NULL);
		visit(context, seed, size);
		size = add(seed, size, STEP_LINE, "** Invalid partition 1 **\r\n=> ");
		size = add(seed, size, STEP_BYTES, "U-Boot SPL 2024\r\n\xff> ");
		visit(context, seed, size);
	}
}
