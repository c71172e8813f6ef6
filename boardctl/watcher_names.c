/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "boardctl/watcher.h"

static const char *const state_names[WATCHER_STATES] = {
	[WATCHER_STATE_NONE] = "none",
	[WATCHER_STATE_SPL] = "spl",
	[WATCHER_STATE_OPENSBI] = "opensbi",
	[WATCHER_STATE_UBOOT] = "uboot",
	[WATCHER_STATE_UBOOT_PROMPT] = "uboot-prompt",
	[WATCHER_STATE_HANDOFF] = "handoff",
	[WATCHER_STATE_LINUX] = "linux",
	[WATCHER_STATE_NUTTX] = "nuttx",
	[WATCHER_STATE_RTTHREAD] = "rtthread",
	[WATCHER_STATE_RTSMART] = "rtsmart",
	[WATCHER_STATE_BAREMETAL] = "baremetal",
	[WATCHER_STATE_OTHER_OS] = "other-os",
	[WATCHER_STATE_USERSPACE] = "userspace",
	[WATCHER_STATE_LOGIN] = "login",
	[WATCHER_STATE_SHELL] = "shell",
};

static const char *const cause_names[WATCHER_CAUSES] = {
	[WATCHER_CAUSE_NONE] = "none",
	[WATCHER_CAUSE_PANIC] = "panic",
	[WATCHER_CAUSE_OOPS] = "oops",
	[WATCHER_CAUSE_STALL] = "stall",
	[WATCHER_CAUSE_TASK_CRASH] = "task-crash",
	[WATCHER_CAUSE_OOM] = "oom",
	[WATCHER_CAUSE_STORAGE_ERROR] = "storage-error",
	[WATCHER_CAUSE_INIT_FAILED] = "init-failed",
	[WATCHER_CAUSE_PASSWORD_DIALOGUE] = "password-dialogue",
	[WATCHER_CAUSE_HANG] = "hang",
	[WATCHER_CAUSE_RESET] = "reset",
	[WATCHER_CAUSE_RESET_LOOP] = "reset-loop",
	[WATCHER_CAUSE_LOADER_FAILED] = "loader-failed",
	[WATCHER_CAUSE_LOADER_CRASH] = "loader-crash",
	[WATCHER_CAUSE_LOADER_HALTED] = "loader-halted",
	[WATCHER_CAUSE_SPL_FAILED] = "spl-failed",
	[WATCHER_CAUSE_WRONG_MEDIUM] = "wrong-medium",
	[WATCHER_CAUSE_WRONG_BAUD] = "wrong-baud",
	[WATCHER_CAUSE_SHELL] = "shell",
	[WATCHER_CAUSE_LOGIN] = "login",
	[WATCHER_CAUSE_BOOTING] = "booting",
};

const char *watcher_state_name(enum watcher_state state)
{
	return (unsigned)state < WATCHER_STATES ? state_names[state] : "?";
}

const char *watcher_cause_name(enum watcher_cause cause)
{
	return (unsigned)cause < WATCHER_CAUSES ? cause_names[cause] : "?";
}

const char *watcher_match_loader_failure(const struct watcher_rules *rules, const char *line)
{
	for (size_t i = 0; i < rules->loader_failure_count; i++)
		if (strstr(line, rules->loader_failures[i]))
			return rules->loader_failures[i];
	return NULL;
}
