/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/watcher_rules.h"

#include <stddef.h>

#define BIT(name) WATCHER_BIT(WATCHER_STATE_##name)
#define IN_UBOOT  (BIT(NONE) | BIT(UBOOT) | BIT(UBOOT_PROMPT) | BIT(HANDOFF))
#define AT_PROMPT (BIT(NONE) | BIT(UBOOT_PROMPT) | BIT(HANDOFF))
#define IN_SPL	  (BIT(NONE) | BIT(SPL))
#define EARLY	  (BIT(NONE) | BIT(SPL) | BIT(OPENSBI) | BIT(UBOOT) | BIT(UBOOT_PROMPT) | BIT(HANDOFF))
#define IN_SYSTEM (~(BIT(SPL) | BIT(OPENSBI) | BIT(UBOOT) | BIT(UBOOT_PROMPT)))

#define HARMLESS(t, a, s)                                                                          \
	{                                                                                          \
		.kind = WATCHER_RULE_HARMLESS, .text = t, .also = a, .states = s                   \
	}
#define SERIOUS(c, t, a, s)                                                                        \
	{                                                                                          \
		.kind = WATCHER_RULE_SERIOUS, .text = t, .also = a, .states = s,                   \
		.cause = WATCHER_CAUSE_##c                                                         \
	}
#define WEAK(c, t, a, s)                                                                           \
	{                                                                                          \
		.kind = WATCHER_RULE_WEAK, .text = t, .also = a, .states = s,                      \
		.cause = WATCHER_CAUSE_##c                                                         \
	}
#define STATE(n, t, a, s)                                                                          \
	{                                                                                          \
		.kind = WATCHER_RULE_STATE, .text = t, .also = a, .states = s,                     \
		.next = WATCHER_STATE_##n                                                          \
	}
#define BANNER(n, t, a)                                                                            \
	{                                                                                          \
		.kind = WATCHER_RULE_BANNER, .text = t, .also = a, .next = WATCHER_STATE_##n       \
	}

/* clang-format off */
const struct watcher_rule watcher_rules[] = {
	/* Real boards print these and boot. */
	HARMLESS("bad CRC, using default environment", NULL, 0),
	HARMLESS("Wrong media type 0x0", NULL, 0),
	HARMLESS("error:bad magic.", NULL, 0),
	HARMLESS("cut here", NULL, 0),
	HARMLESS("WARNING: CPU:", NULL, 0),
	HARMLESS("BUG: sleeping function called", NULL, 0),
	HARMLESS("soft reset failed", NULL, 0),
	/* A warning is a breakpoint: its trace looks like an oops. */
	HARMLESS("badaddr:", "cause: 0000000000000003", 0),

	/* Linux. */
	SERIOUS(PANIC, "Kernel panic - not syncing", NULL, IN_SYSTEM),
	SERIOUS(PANIC, "VFS: Unable to mount root fs", NULL, IN_SYSTEM),
	SERIOUS(OOPS, "Unable to handle kernel", NULL, IN_SYSTEM),
	SERIOUS(OOPS, "Oops [#", NULL, IN_SYSTEM),
	SERIOUS(OOPS, "Oops - ", NULL, IN_SYSTEM),
	SERIOUS(OOPS, "kernel BUG at", NULL, IN_SYSTEM),
	SERIOUS(OOPS, "badaddr:", "cause:", IN_SYSTEM),
	SERIOUS(STALL, "BUG: soft lockup", NULL, IN_SYSTEM),
	SERIOUS(STALL, "self-detected stall on CPU", NULL, IN_SYSTEM),
	SERIOUS(STALL, "detected stalls on CPUs", NULL, IN_SYSTEM),
	SERIOUS(STALL, "kthread starved for", NULL, IN_SYSTEM),
	SERIOUS(STALL, "blocked for more than", "seconds", IN_SYSTEM),
	SERIOUS(OOM, "invoked oom-killer", NULL, IN_SYSTEM),
	SERIOUS(OOM, "Out of memory: Kill", NULL, IN_SYSTEM),
	SERIOUS(STORAGE_ERROR, "data error, sending stop command", NULL, IN_SYSTEM),
	SERIOUS(STORAGE_ERROR, "I/O error, dev mmcblk", NULL, IN_SYSTEM),
	SERIOUS(STORAGE_ERROR, "Buffer I/O error on dev", NULL, IN_SYSTEM),
	SERIOUS(STORAGE_ERROR, "EXT4-fs error", NULL, IN_SYSTEM),

	/* Firmware and loader. */
	SERIOUS(SPL_FAILED, "failed to boot from all boot devices", NULL, IN_SPL),
	SERIOUS(SPL_FAILED, "auto scan dram rank & width failed", NULL, IN_SPL),
	SERIOUS(SPL_FAILED, "DRAM size is 0", NULL, IN_SPL),
	SERIOUS(WRONG_MEDIUM, "spinand UBOOT_START_BLK_NUM", NULL, IN_SPL),
	SERIOUS(LOADER_CRASH, "Unhandled exception:", NULL, IN_UBOOT),
	SERIOUS(LOADER_HALTED, "### ERROR ### Please RESET the board", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "Bad Linux RISCV Image magic!", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "Wrong Image Format for", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "can't get kernel image", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "ramdisk - allocation error", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "Did not find a cmdline Flattened Device Tree", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "Bad Data CRC", NULL, IN_UBOOT),
	SERIOUS(LOADER_FAILED, "File not found", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "Failed to load '", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "no mmc device at slot", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "MMC: no card present", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "** Invalid partition", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "** Bad device specification", NULL, AT_PROMPT),
	SERIOUS(LOADER_FAILED, "Unknown command '", NULL, AT_PROMPT),
	/* Before the prompt the loader looks in many places; an absent second slot
	 * and a missing script are normal as long as something comes after them. */
	WEAK(LOADER_FAILED, "Card did not respond", NULL, IN_UBOOT),
	WEAK(LOADER_FAILED, "File not found", NULL, BIT(UBOOT)),
	WEAK(LOADER_FAILED, "Failed to load '", NULL, BIT(UBOOT)),
	WEAK(LOADER_FAILED, "no mmc device at slot", NULL, BIT(UBOOT)),
	WEAK(LOADER_FAILED, "MMC: no card present", NULL, BIT(UBOOT)),
	WEAK(LOADER_FAILED, "SCRIPT FAILED", NULL, BIT(UBOOT)),

	/* Where the boot is. The loader's banner and the system's come from the
	 * configuration. */
	BANNER(SPL, "U-Boot SPL 20", NULL),
	BANNER(SPL, "HELLO! BOOT0 is starting", NULL),
	BANNER(OPENSBI, "OpenSBI v", NULL),
	BANNER(LINUX, "[    0.000000] Linux version ", NULL),
	STATE(LINUX, "Linux version ", NULL, EARLY),
	STATE(HANDOFF, "Starting kernel ...", NULL, IN_UBOOT),
	STATE(HANDOFF, "## Starting application at", NULL, IN_UBOOT),
	STATE(HANDOFF, "## Transferring control to", NULL, IN_UBOOT),
	STATE(USERSPACE, "Run /", "as init process", EARLY | BIT(LINUX)),
	STATE(USERSPACE, "systemd[1]:", NULL, EARLY | BIT(LINUX)),
	{.text = NULL},
};
/* clang-format on */

const char *const watcher_loader_failures[] = {
	"File not found",
	"Failed to load '",
	"Card did not respond",
	"no mmc device at slot",
	"MMC: no card present",
	"Invalid partition",
	"Bad device specification",
	"Can't set block device",
	"Unable to read file",
	"Unrecognized filesystem type",
	"mmc fail",
	"Bad Linux RISCV Image magic!",
	"Wrong Image Format for",
	"can't get kernel image",
	"ramdisk - allocation error",
	"Unknown command '",
	"syntax error",
	"Usage:",
	NULL,
};

const char *const watcher_shell_prompts[] = {
	"login: ",
	"/ # ",
	"~ # ",
	":~# ",
	":/# ",
	"~$ ",
	"]# ",
	"]$ ",
	"nsh> ",
	"msh />",
	NULL,
};

const uint32_t watcher_limits_ms[WATCHER_STATES] = {
	[WATCHER_STATE_NONE] = 10000,
	[WATCHER_STATE_SPL] = 10000,
	[WATCHER_STATE_OPENSBI] = 10000,
	[WATCHER_STATE_UBOOT] = 30000,
	[WATCHER_STATE_UBOOT_PROMPT] = WATCHER_NO_LIMIT,
	/* A watchdog of 16 s that the loader left on says more than silence: let it. */
	[WATCHER_STATE_HANDOFF] = 30000,
	/* Unpacking a large initramfs was seen to take 65 s. */
	[WATCHER_STATE_LINUX] = 90000,
	[WATCHER_STATE_USERSPACE] = 120000,
	[WATCHER_STATE_SHELL] = WATCHER_NO_LIMIT,
	[WATCHER_STATE_BAREMETAL] = WATCHER_NO_LIMIT,
};

const char *const watcher_state_names[WATCHER_STATES] = {
	[WATCHER_STATE_NONE] = "none",
	[WATCHER_STATE_SPL] = "spl",
	[WATCHER_STATE_OPENSBI] = "opensbi",
	[WATCHER_STATE_UBOOT] = "uboot",
	[WATCHER_STATE_UBOOT_PROMPT] = "uboot-prompt",
	[WATCHER_STATE_HANDOFF] = "handoff",
	[WATCHER_STATE_LINUX] = "linux",
	[WATCHER_STATE_USERSPACE] = "userspace",
	[WATCHER_STATE_SHELL] = "shell",
	[WATCHER_STATE_BAREMETAL] = "baremetal",
};

const char *const watcher_cause_names[WATCHER_CAUSES] = {
	[WATCHER_CAUSE_NONE] = "none",
	[WATCHER_CAUSE_PANIC] = "panic",
	[WATCHER_CAUSE_OOPS] = "oops",
	[WATCHER_CAUSE_STALL] = "stall",
	[WATCHER_CAUSE_OOM] = "oom",
	[WATCHER_CAUSE_STORAGE_ERROR] = "storage-error",
	[WATCHER_CAUSE_HANG] = "hang",
	[WATCHER_CAUSE_RESET] = "reset",
	[WATCHER_CAUSE_RESET_LOOP] = "reset-loop",
	[WATCHER_CAUSE_LOADER_FAILED] = "loader-failed",
	[WATCHER_CAUSE_LOADER_CRASH] = "loader-crash",
	[WATCHER_CAUSE_LOADER_HALTED] = "loader-halted",
	[WATCHER_CAUSE_SPL_FAILED] = "spl-failed",
	[WATCHER_CAUSE_WRONG_MEDIUM] = "wrong-medium",
	[WATCHER_CAUSE_ENDLESS_OUTPUT] = "endless-output",
	[WATCHER_CAUSE_WRONG_BAUD] = "wrong-baud",
};
