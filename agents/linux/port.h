/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's port to Linux: the core's operations over a tty, POSIX threads
 * and the files of /proc and /sys.
 */
#ifndef AGENTS_LINUX_PORT_H
#define AGENTS_LINUX_PORT_H

#include <stddef.h>
#include <sys/utsname.h>

#include "agents/core/posix/posix_port.h"
#include "agents/linux/console.h"
#include "agents/linux/kmsg.h"
#include "agents/linux/process.h"
#include "agents/linux/rate.h"
#include "agents/linux/resolution.h"
#include "agents/linux/rtc.h"
#include "agents/linux/snapshot.h"
#include "agents/linux/tuning.h"

struct linux_port {
	struct posix_port posix; /* first: the core hands it back */
	struct console *console;
	const struct tuning *tuning;
	struct rate rate;
	struct resolution resolution;
	struct kmsg kmsg;
	bool keeps_settings; /* the console's log level stays as it is */
	struct snapshot_files files;
	struct snapshot begin;
	struct console_counts uart_begin;
	struct utsname name;
	struct processes processes;
	struct rtc rtc;
	struct agent_device device;
	int scratch_fd; /* file that the heavy load writes to; -1: none */
	uint32_t scratch_at;
	long watched; /* the thread whose state file is open */
	int watched_fd;
};

/*
 * Console, tuning and arena stay the caller's and must outlive the port.
 * `load_stack` has POSIX_STACK_SIZE bytes.
 */
void port_init(struct linux_port *port, struct console *console, const struct tuning *tuning,
	bool keep_settings);
void port_set_memory(struct linux_port *port, void *arena, size_t size, void *load_stack);
void port_fini(struct linux_port *port);

#endif
