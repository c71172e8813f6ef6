/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port with an honest loader, or relay, behind it, but for what the input says:
 * after so many answers one is another.  Where the input has ended it is honest,
 * so that an input of one byte is a dialogue that must succeed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/drivers.h"
#include "boardctl/loader.h"
#include "boardctl/power.h"
#include "tests/fuzz/fuzz.h"

#define READS_MAX 100000u

enum step {
	STEP_BYTES,   /* instead */
	STEP_NOTHING, /* at all */
	STEP_LESS,    /* only the beginning */
	STEP_FLIP,    /* a byte of it is another */
	STEP_BEFORE,  /* bytes in front */
	STEP_BEHIND,  /* and behind */
	STEP_PROMPT,  /* at once */
	STEP_GONE,    /* the port */
	STEPS,
};

struct port {
	struct link base;
	struct fuzz_input input;
	unsigned int honest;  /* answers until the next step of the input */
	uint8_t answer[8192]; /* that is being read */
	size_t begin, end;
	char typed[2048]; /* since the last CR */
	size_t typed_size;
	unsigned int reads;
	bool is_relay, is_stopped, is_gone; /* autoboot is stopped */
};

/* ------------------------------------------------------------------ answers */

static void say(struct port *port, const void *bytes, size_t size)
{
	size_t room = sizeof(port->answer) - port->end;

	size = size < room ? size : room;
	memcpy(port->answer + port->end, bytes, size);
	port->end += size;
}

static void say_text(struct port *port, const char *text)
{
	say(port, text, strlen(text));
}

/* A line `... echo 12""34=$?=$?` prints 1234=0=0. */
static void say_output(struct port *port)
{
	char marker[32];
	const char *at = strstr(port->typed, "\"\"");

	say_text(port, "\r\n");
	if (strstr(port->typed, "crc32 "))
		say_text(port, "crc32 for 80000000 ... 800000ff ==> cbf43926\r\n");
	if (at && at - port->typed >= 4 && strlen(at) >= 6) {
		snprintf(marker, sizeof(marker), "%.4s%.4s=0=0\r\n", at - 4, at + 2);
		say_text(port, marker);
	}
	port->typed_size = 0;
	if (strncmp(port->typed, "booti", 5) != 0)
		say_text(port, "=> ");
}

static void say_truth(struct port *port, const char *written, size_t size)
{
	if (port->is_relay) {
		say_text(port, "CH1:ON \r\nCH2:OFF \r\n");
	} else if (!port->is_stopped || memchr(written, '\x03', size)) {
		port->is_stopped = true;
		port->typed_size = 0;
		say_text(port, "\r\n=> ");
	} else if (memchr(written, '\r', size)) {
		say_output(port);
	} else if (size < sizeof(port->typed) - port->typed_size) {
		memcpy(port->typed + port->typed_size, written, size);
		port->typed_size += size;
		say(port, written, size);
	}
	port->typed[port->typed_size] = '\0';
}

/* `begin`: of the answer that is true. */
static void say_step(struct port *port, size_t begin)
{
	struct fuzz_input *input = &port->input;
	size_t got, size = port->end - begin;
	uint8_t step = fuzz_take_byte(input) % STEPS, argument = fuzz_take_byte(input);
	uint8_t truth[256];
	const uint8_t *bytes;

	size = size < sizeof(truth) ? size : sizeof(truth);
	memcpy(truth, port->answer + begin, size);
	if (step == STEP_LESS)
		port->end = begin + (size ? argument % size : 0);
	else if (step == STEP_FLIP && size)
		port->answer[begin + argument % size] ^= 1 + fuzz_take_byte(input) % 255;
	else if (step == STEP_GONE)
		port->is_gone = true;
	if (step != STEP_BYTES && step != STEP_NOTHING && step != STEP_BEFORE &&
		step != STEP_BEHIND && step != STEP_PROMPT)
		return;
	if (step != STEP_BEHIND)
		port->end = begin;
	if (step == STEP_PROMPT)
		say_text(port, "\r\n=> ");
	if (step == STEP_NOTHING || step == STEP_PROMPT)
		return;
	bytes = fuzz_take_bytes(input, argument, &got);
	say(port, bytes, got);
	if (step == STEP_BEFORE)
		say(port, truth, size);
}

/* -------------------------------------------------------------------- port */

static int say_gone(struct link *link)
{
	return fail_format(link->error, sizeof(link->error), -ENODEV, "gone");
}

static ssize_t port_read(struct link *link, void *buffer, size_t size, unsigned timeout_ms)
{
	struct port *port = (struct port *)link;
	size_t left = port->end - port->begin;

	FUZZ_EXPECT(++port->reads < READS_MAX);
	if (left == 0) {
		/* What is not there now will not come. */
		fuzz_clock_pass(timeout_ms * UINT64_C(1000));
		return port->is_gone ? say_gone(link) : 0;
	}
	size = size < left ? size : left;
	memcpy(buffer, port->answer + port->begin, size);
	port->begin += size;
	return (ssize_t)size;
}

static int port_write(struct link *link, const void *data, size_t size)
{
	struct port *port = (struct port *)link;
	size_t begin;

	if (port->is_gone)
		return say_gone(link);
	if (port->begin == port->end)
		port->begin = port->end = 0;
	begin = port->end;
	say_truth(port, data, size);
	if (port->honest > 0 || port->input.left == 0) {
		port->honest -= port->honest > 0;
		return 0;
	}
	say_step(port, begin);
	port->honest = fuzz_take_byte(&port->input);
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
	port->honest = fuzz_take_byte(&port->input);
}

/* ---------------------------------------------------------------- dialogues */

static void check(const struct loader *loader, int rc, bool is_honest)
{
	FUZZ_EXPECT(rc == 0 || rc == -ENODATA || rc == -ETIMEDOUT || rc == -EPROTO || rc == -EIO ||
		    rc == -EBADMSG || rc == -ECONNRESET || rc == -ENODEV || rc == -EINVAL);
	FUZZ_EXPECT(rc == 0 || (loader_error(loader)[0] && !is_honest));
	if (rc)
		fuzz_expect_line(loader_error(loader));
}

static void talk(struct fuzz_input input)
{
	static const char banner[] = "U-Boot 2023.01\r\nHit any key to stop autoboot: 2 ";
	static const struct loader_config config = {.retries = 2};
	bool is_honest = input.left == 0;
	static struct watcher watcher;
	static struct port port;
	struct loader *loader;
	char output[64];
	uint32_t crc;

	port_init(&port, input);
	say_text(&port, banner);
	FUZZ_EXPECT(watcher_init(&watcher, &(struct watcher_config){.rules = fuzz_rules()}) == 0);
	watcher_restart(&watcher, 0);
	FUZZ_EXPECT(loader_new(&loader, &port.base, &watcher, &config) == 0);
	check(loader, loader_wait_prompt(loader, 60000), is_honest);
	memset(output, 'x', sizeof(output));
	check(loader, loader_run(loader, "mmc info", output, sizeof(output), 0), is_honest);
	FUZZ_EXPECT(memchr(output, '\0', sizeof(output)) != NULL);
	check(loader, loader_crc32(loader, "${kernel_addr_r}", 256, &crc), is_honest);
	FUZZ_EXPECT(!is_honest || crc == 0xcbf43926);
	check(loader, loader_check_crc32(loader, "80000000", 256, 0xcbf43926), is_honest);
	check(loader, loader_boot(loader, "booti ${kernel_addr_r}"), is_honest);
	loader_free(loader);
}

static void ask_relay(struct fuzz_input input, unsigned channel)
{
	static struct port port;
	struct power power = {.driver = &power_lcus_driver,
		.config = {.channel = channel, .answer_ms = 2000},
		.port = &port.base};
	bool on = false, is_honest = input.left == 0 && channel <= 2;
	int rc;

	if (input.left == 0 && channel > 2)
		return;
	port_init(&port, input);
	port.is_relay = true;
	rc = power_lcus_driver.get(&power, &on);
	FUZZ_EXPECT(rc == 0 || rc == -ETIMEDOUT || rc == -EPROTO || rc == -ENODEV);
	FUZZ_EXPECT((rc == 0) == (power.error[0] == '\0'));
	FUZZ_EXPECT(!is_honest || (rc == 0 && on == (channel == 1)));
	fuzz_expect_line(power.error);
}

int fuzz_loader(const uint8_t *bytes, size_t size)
{
	struct fuzz_input input = {bytes, size};
	uint8_t head = fuzz_take_byte(&input);

	fuzz_clock_begin();
	if (head & 1)
		ask_relay(input, 1 + (head >> 1) % 8);
	else
		talk(input);
	fuzz_clock_end();
	return 0;
}

/* ------------------------------------------------------------------- seeds */

static void visit_step(fuzz_visit *visit, void *context, uint8_t head, uint8_t before,
	enum step step, const char *text)
{
	uint8_t seed[128] = {head, before, (uint8_t)step, (uint8_t)strlen(text)};

	memcpy(seed + 4, text, strlen(text));
	visit(context, seed, 4 + strlen(text));
}

void fuzz_loader_seeds(fuzz_visit *visit, void *context)
{
	static const char *const texts[] = {"CH1:ON \r\nCH2:OFF \r\n", "CH1:O", "\x1b[2JU-Boot> ",
		"CH2: ON\r\nCH1: OFF \r\n", "\xff\xff\x80", "\r\n** Invalid partition 1 **\r\n=> ",
		"\r\nU-Boot SPL 2024\r\n", "\r\n> ", "\r\nsyntax error\r\n=> "};

	visit(context, (const uint8_t *)"\0", 1);
	visit(context, (const uint8_t *)"\1", 1);
	for (uint8_t head = 0; head < 2; head++) {
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
			for (uint8_t before = 0; before < (head ? 1 : 48); before += 3)
				visit_step(visit, context, head, before,
					(enum step)((i + before) % STEPS), texts[i]);
		}
	}
}
