/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/line.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "boardctl/vboard/log.h"

/* What the smallest socket holds in single bytes; its sender wakes when one or none is left. */
#define LINE_SOCKET_BYTES 6
/* What the kernel reckons for a single byte in a socket; of what is set, it takes twice. */
#define LINE_SOCKET_COST 768
/*
 * A sender that found the socket full goes on so soon after a read, even on a busy machine. Its
 * next bytes then count as having waited: a burst stays at the line's rate, and never above it.
 */
#define LINE_REFILL_NS (2 * LOOP_MS)
/* Bytes are moved together while their times are this near. */
#define LINE_GROUP_NS UINT64_C(450000)
/* The host's rate is asked for so often while bytes flow. */
#define LINE_RATE_NS (5 * LOOP_MS)
#define LINE_CHUNK   128
/* Without inotify a slave that was opened is noticed so late. */
#define LINE_REOPEN_NS (100 * LOOP_MS)
/* Pace of a side whose rate is not known. */
#define LINE_UNKNOWN_BAUD 115200

int line_make_socket(struct line_end *line_end, struct line_end *device_end)
{
	int ends[2], smallest = 1;

	*line_end = *device_end = (struct line_end){-1, -1};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return -errno;
	/* Only towards the line: the host's bytes must not get lost in a slow emulator. */
	setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &smallest, sizeof(smallest));
	*line_end = (struct line_end){ends[0], ends[0]};
	*device_end = (struct line_end){ends[1], ends[1]};
	return 0;
}

int line_make_pipes(struct line_end *line_end, struct line_end *device_end)
{
	int to_line[2] = {-1, -1}, to_device[2] = {-1, -1}, result = 0;

	/* Not sockets: those count each byte that is written alone as hundreds. */
	if (pipe2(to_line, O_CLOEXEC | O_NONBLOCK) < 0 ||
		pipe2(to_device, O_CLOEXEC | O_NONBLOCK) < 0)
		result = -errno;
	if (result == 0 && fcntl(to_line[1], F_SETPIPE_SZ, LINE_PIPE_BYTES) < 0)
		result = -errno;
	*line_end = (struct line_end){to_line[0], to_device[1]};
	*device_end = (struct line_end){to_device[0], to_line[1]};
	if (result < 0) {
		line_close_end(line_end);
		line_close_end(device_end);
	}
	return result;
}

void line_close_end(struct line_end *end)
{
	if (end->in_fd >= 0)
		close(end->in_fd);
	if (end->out_fd >= 0 && end->out_fd != end->in_fd)
		close(end->out_fd);
	*end = (struct line_end){-1, -1};
}

/* ---------------------------------------------------------------- pace and damage */

static uint64_t line_byte_ns(const struct line_lane *lane)
{
	unsigned baud = lane->is_to_host ? lane->line->device_baud : lane->line->host_baud;

	return 10 * LOOP_S / (baud ? baud : LINE_UNKNOWN_BAUD);
}

static uint64_t line_group_ns(const struct line_lane *lane)
{
	/* Four would leave two in the socket: too many to wake the sender, too few for a group. */
	static const uint8_t groups[] = {1, 1, 2, 3, 3, 5};
	uint64_t byte_ns = line_byte_ns(lane);
	uint64_t bytes = LINE_GROUP_NS / byte_ns;

	if (bytes < sizeof(groups))
		return byte_ns * groups[bytes];
	/* A larger one wakes its sender when a quarter is left. */
	if (lane->line->socket_bytes > LINE_SOCKET_BYTES)
		return byte_ns * (lane->line->socket_bytes * 7 / 8);
	return byte_ns * groups[sizeof(groups) - 1];
}

/* At any rate the device runs ahead of the line by the same time, never by less than a few bytes.
 */
static void line_fit_socket(struct line *line)
{
	unsigned bytes = line->device_baud / (115200 / LINE_SOCKET_BYTES);
	int size;

	if (bytes < LINE_SOCKET_BYTES)
		bytes = LINE_SOCKET_BYTES;
	if (bytes > LINE_CHUNK)
		bytes = LINE_CHUNK;
	size = (int)bytes * LINE_SOCKET_COST / 2;
	if (bytes == line->socket_bytes || line->device_end_fd < 0)
		return;
	if (setsockopt(line->device_end_fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0)
		line->socket_bytes = bytes;
}

static bool line_rates_agree(const struct line *line)
{
	uint64_t host = line->host_baud, device = line->device_baud;
	uint64_t difference = host > device ? host - device : device - host;

	return host && device && difference * 1000 <= device * 25;
}

static void line_apply_device_baud(struct line *line)
{
	if (!line->next_device_baud)
		return;
	if (line->device_baud != line->next_device_baud)
		log_event("%s: the device runs at %u baud", line->name, line->next_device_baud);
	line->device_baud = line->next_device_baud;
	line->next_device_baud = 0;
	line->is_rate_unused = true;
	line_fit_socket(line);
}

void line_set_device_baud(struct line *line, unsigned baud)
{
	int waiting = 0;

	line->next_device_baud = baud;
	line->next_device_bytes = 2 * (line->socket_bytes + 1);
	if (line->device.in_fd >= 0)
		ioctl(line->device.in_fd, FIONREAD, &waiting);
	/* A divisor is written in halves: nothing was sent at what lay between. */
	if (!line->has_sent || line->is_rate_unused || (!line->to_host.is_busy && !waiting))
		line_apply_device_baud(line);
}

static void line_note_host_baud(struct line *line, uint64_t now_ns)
{
	unsigned baud;

	if (now_ns < line->next_rate_ns)
		return;
	line->next_rate_ns = now_ns + LINE_RATE_NS;
	baud = pty_get_baud(&line->pty);
	if (baud != line->host_baud)
		log_event("%s: the host runs at %u baud", line->name, baud);
	line->host_baud = baud;
}

/* Returns how many of the bytes are left, damaged in place. */
static size_t line_damage(struct line_lane *lane, uint8_t *bytes, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t byte = bytes[i];
		if (lane->line->tap)
			lane->line->tap(lane->line->tap_context, lane->is_to_host, byte);
		if (!fault_stream_pass(&lane->fault, &byte)) {
			lane->counts.dropped++;
			continue;
		}
		bytes[kept++] = byte;
	}
	return kept;
}

static void line_garble(struct line_lane *lane, uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = fault_stream_garble(&lane->fault, bytes[i]);
	lane->counts.garbled += count;
}

/* ---------------------------------------------------------------- the host's adapter */

static void line_deliver_held(struct line *line)
{
	ssize_t written = 0;

	if (line->held_count && line->is_listened)
		written = write(line->pty.master_fd, line->held, line->held_count);
	if (written < 0)
		written = 0;
	line->to_host.counts.dropped += line->held_count - (size_t)written;
	line->held_count = 0;
	line->held_timer.due_ns = 0;
}

static void line_held_expired(void *context, uint64_t now_ns)
{
	(void)now_ns;
	line_deliver_held(context);
}

/* As write() to the host's port. */
static ssize_t line_hold(struct line *line, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (line->held_count == 0)
			line->held_timer.due_ns =
				loop_now_ns() + line->adapter_latency_ms * LOOP_MS;
		line->held[line->held_count++] = bytes[i];
		if (line->held_count >= line->adapter_chunk)
			line_deliver_held(line);
	}
	return (ssize_t)count;
}

void line_set_adapter(struct line *line, unsigned latency_ms, unsigned chunk)
{
	line->adapter_latency_ms = latency_ms;
	line->adapter_chunk = chunk;
}

static ssize_t line_write(struct line_lane *lane, const uint8_t *bytes, size_t count)
{
	struct line *line = lane->line;

	if (!lane->is_to_host)
		return write(line->device.out_fd, bytes, count);
	if (line->adapter_latency_ms)
		return line_hold(line, bytes, count);
	return write(line->pty.master_fd, bytes, count);
}

static void line_hand_over(struct line_lane *lane, uint8_t *bytes, size_t count)
{
	struct line *line = lane->line;
	bool is_lost =
		line->is_cut || line->device.out_fd < 0 || (lane->is_to_host && !line->is_listened);
	ssize_t written = 0;

	count = line_damage(lane, bytes, count);
	if (!is_lost && !line_rates_agree(line))
		line_garble(lane, bytes, count);
	if (!is_lost && count)
		written = line_write(lane, bytes, count);
	if (written < 0)
		written = 0;
	lane->counts.bytes += (uint64_t)written;
	lane->counts.dropped += count - (size_t)written;
}

/* ---------------------------------------------------------------- one direction */

static void line_lane_watch(struct line_lane *lane)
{
	struct line *line = lane->line;
	bool wants = !lane->is_busy && lane->source_fd >= 0;

	if (lane->is_to_host) {
		line->device_watch.fd = wants ? lane->source_fd : -1;
		return;
	}
	/* A closed slave would be reported without end: then only inotify and the timer look. */
	line->master_watch.fd = line->is_listened ? lane->source_fd : -1;
	line->master_watch.events = wants ? POLLIN : 0;
}

static void line_lane_idle(struct line_lane *lane, uint64_t now_ns)
{
	lane->is_busy = false;
	lane->dry_ns = now_ns;
	if (lane->is_to_host)
		line_apply_device_baud(lane->line);
	line_lane_watch(lane);
}

static void line_count_old_rate(struct line_lane *lane, size_t count)
{
	struct line *line = lane->line;

	if (!lane->is_to_host || !line->next_device_baud)
		return;
	if (line->next_device_bytes > count)
		line->next_device_bytes -= (unsigned)count;
	else
		line_apply_device_baud(line);
}

/* The last bit of some bytes has left: take them from the source and hand them over. */
static void line_lane_step(void *context, uint64_t now_ns)
{
	struct line_lane *lane = context;
	uint8_t bytes[LINE_CHUNK];
	uint64_t byte_ns, due;
	ssize_t count;

	if (!lane->is_busy || lane->source_fd < 0)
		return;
	line_note_host_baud(lane->line, now_ns);
	byte_ns = line_byte_ns(lane);
	due = now_ns > lane->free_ns ? (now_ns - lane->free_ns) / byte_ns : 0;
	if (due > sizeof(bytes))
		due = sizeof(bytes);
	if (due > 0) {
		count = read(lane->source_fd, bytes, due);
		if (count == 0 && lane->is_to_host)
			lane->source_fd = -1;
		if (count > 0) {
			lane->free_ns += (uint64_t)count * byte_ns;
			if (lane->is_to_host) {
				lane->line->has_sent = true;
				lane->line->is_rate_unused = false;
			}
			lane->burst_bytes += (unsigned)count;
			line_hand_over(lane, bytes, (size_t)count);
			line_count_old_rate(lane, (size_t)count);
		}
		if (count < (ssize_t)due) {
			line_lane_idle(lane, now_ns);
			return;
		}
	}
	lane->timer.due_ns = lane->free_ns + line_group_ns(lane);
	line_lane_watch(lane);
}

/* The source has bytes: the first bit of the first one goes on the line now. */
static void line_lane_begin(struct line_lane *lane)
{
	uint64_t now_ns = loop_now_ns();
	/* Only a burst that has filled the socket can have had more waiting behind it. */
	bool is_refill = lane->burst_bytes >= lane->line->socket_bytes &&
			 now_ns - lane->dry_ns < LINE_REFILL_NS;

	if (lane->is_busy || lane->source_fd < 0)
		return;
	if (!is_refill) {
		lane->line->next_rate_ns = 0;
		line_note_host_baud(lane->line, now_ns);
		lane->burst_bytes = 0;
		if (lane->free_ns < now_ns)
			lane->free_ns = now_ns;
	}
	lane->is_busy = true;
	lane->timer.due_ns = lane->free_ns + line_group_ns(lane);
	if (lane->timer.due_ns <= now_ns)
		line_lane_step(lane, now_ns);
	else
		line_lane_watch(lane);
}

/* ---------------------------------------------------------------- the two ends */

static void line_note_listener(struct line *line)
{
	bool is_listened = pty_is_listened(&line->pty);

	if (is_listened != line->is_listened)
		log_event("%s: the host has %s the port", line->name,
			is_listened ? "opened" : "closed");
	if (!is_listened && line->is_listened) {
		line->held_count = 0;
		line->held_timer.due_ns = 0;
		pty_flush(&line->pty);
	}
	line->is_listened = is_listened;
	line->reopen_timer.due_ns = is_listened ? 0 : loop_now_ns() + LINE_REOPEN_NS;
	line_lane_watch(&line->to_device);
}

static void line_reopen_expired(void *context, uint64_t now_ns)
{
	(void)now_ns;
	line_note_listener(context);
}

static void line_inotify_ready(void *context, short revents)
{
	struct line *line = context;

	(void)revents;
	pty_clear_inotify(&line->pty);
	line_note_listener(line);
}

static void line_master_ready(void *context, short revents)
{
	struct line *line = context;

	/* What the host wrote just before it closed still goes over the line. */
	if (revents & POLLIN)
		line_lane_begin(&line->to_device);
	if (revents & (POLLHUP | POLLERR))
		line_note_listener(line);
}

static void line_device_ready(void *context, short revents)
{
	struct line *line = context;

	(void)revents;
	line_lane_begin(&line->to_host);
}

static void line_lane_open(
	struct line_lane *lane, struct line *line, struct loop *loop, bool is_to_host)
{
	memset(lane, 0, sizeof(*lane));
	lane->line = line;
	lane->is_to_host = is_to_host;
	lane->source_fd = is_to_host ? -1 : line->pty.master_fd;
	lane->timer.expired = line_lane_step;
	lane->timer.context = lane;
	loop_add_timer(loop, &lane->timer);
}

int line_open(struct line *line, struct loop *loop, const char *name, const char *link)
{
	int result;

	memset(line, 0, sizeof(*line));
	line->name = name;
	line->device = (struct line_end){-1, -1};
	line->device_end_fd = -1;
	result = pty_open(&line->pty, link, LINE_UNKNOWN_BAUD);
	if (result < 0)
		return result;
	line_lane_open(&line->to_host, line, loop, true);
	line_lane_open(&line->to_device, line, loop, false);
	line->device_watch = (struct loop_watch){-1, POLLIN, line_device_ready, line};
	line->master_watch = (struct loop_watch){-1, POLLIN, line_master_ready, line};
	line->inotify_watch =
		(struct loop_watch){line->pty.inotify_fd, POLLIN, line_inotify_ready, line};
	line->reopen_timer = (struct loop_timer){0, line_reopen_expired, line};
	loop_add_watch(loop, &line->device_watch);
	loop_add_watch(loop, &line->master_watch);
	loop_add_watch(loop, &line->inotify_watch);
	line->held_timer = (struct loop_timer){0, line_held_expired, line};
	loop_add_timer(loop, &line->reopen_timer);
	loop_add_timer(loop, &line->held_timer);
	line_note_host_baud(line, loop_now_ns());
	line_note_listener(line);
	return 0;
}

void line_close(struct line *line)
{
	if (!line->name)
		return;
	line_detach(line);
	pty_close(&line->pty);
	line->to_device.source_fd = -1;
	line->inotify_watch.fd = -1;
	line->master_watch.fd = -1;
	line->reopen_timer.due_ns = 0;
	line->held_timer.due_ns = 0;
}

void line_attach(struct line *line, struct line_end end, const struct line_end *device_end,
	const struct fault_plan *plan, unsigned power_on)
{
	line_detach(line);
	line->device = end;
	line->device_end_fd = fcntl(device_end->in_fd, F_DUPFD_CLOEXEC, 0);
	line->socket_bytes = LINE_SOCKET_BYTES;
	line->is_cut = false;
	line->has_sent = false;
	line->to_host.source_fd = end.in_fd;
	fault_stream_start(&line->to_host.fault, plan, power_on, 0);
	fault_stream_start(&line->to_device.fault, plan, power_on, 1);
	line_lane_watch(&line->to_host);
}

void line_detach(struct line *line)
{
	struct line_lane *lane = &line->to_host;

	lane->is_busy = false;
	lane->burst_bytes = 0;
	lane->source_fd = -1;
	lane->timer.due_ns = 0;
	line->device_watch.fd = -1;
	line_close_end(&line->device);
	if (line->device_end_fd >= 0)
		close(line->device_end_fd);
	line->device_end_fd = -1;
	line->device_baud = 0;
	line->next_device_baud = 0;
}

void line_cut(struct line *line)
{
	log_event("%s: cut", line->name);
	line->is_cut = true;
}
