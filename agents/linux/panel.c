/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/linux/panel.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/linux/file.h"

#define VALUE_MAX 96

/* ---------------------------------------------------------------- display */

/* "mode: "480x480": 60 18000 480 ..." of the kernel's own state: the rate that is set. */
static void put_drm_mode(struct text *text)
{
	glob_t found;
	size_t count = file_list("/sys/kernel/debug/dri/*/state", &found);
	bool is_put = false;

	for (size_t i = 0; i < count && !is_put; i++) {
		char state[8192], mode[VALUE_MAX];
		const char *at = state;
		unsigned int rate_hz;

		if (file_read_text(file_list_path(&found, i), state, sizeof(state)) <= 0)
			continue;
		while (!is_put && (at = strstr(at, "mode: \"")) != NULL) {
			is_put = sscanf(at, "mode: \"%95[^\"]\": %u", mode, &rate_hz) == 2;
			at += 7;
		}
		if (is_put) {
			text_put(text, "display.mode", mode);
			text_put_u64(text, "display.rate_hz", rate_hz);
		}
	}
	file_free_list(&found);
	if (!is_put)
		text_put(text, "display.mode", "none");
}

/* "U:480x480p-60" of a frame buffer without DRM. */
static bool put_frame_buffer(struct text *text)
{
	char name[VALUE_MAX], modes[VALUE_MAX], mode[VALUE_MAX];
	unsigned int rate_hz;

	if (file_read_text("/sys/class/graphics/fb0/name", name, sizeof(name)) <= 0)
		return false;
	text_put(text, "display", name);
	if (file_read_text("/sys/class/graphics/fb0/modes", modes, sizeof(modes)) > 0 &&
		sscanf(modes, "%*c:%95[0-9x]%*c-%u", mode, &rate_hz) == 2) {
		text_put(text, "display.mode", mode);
		text_put_u64(text, "display.rate_hz", rate_hz);
	}
	return true;
}

static void put_display(struct text *text)
{
	glob_t found;
	size_t count = file_list("/sys/class/drm/card*-*/status", &found);
	bool is_put = false;

	for (size_t i = 0; i < count && !is_put; i++) {
		const char *path = file_list_path(&found, i);
		char status[VALUE_MAX], connector[VALUE_MAX];

		if (file_read_text(path, status, sizeof(status)) <= 0 ||
			strcmp(status, "connected") != 0)
			continue;
		/* "card0-DSI-1" */
		path = strchr(path + strlen("/sys/class/drm/"), '-') + 1;
		snprintf(connector, sizeof(connector), "%.*s", (int)strcspn(path, "/"), path);
		text_put(text, "display", connector);
		put_drm_mode(text);
		is_put = true;
	}
	file_free_list(&found);
	if (!is_put && !put_frame_buffer(text))
		text_put(text, "display", "none");
}

/* ---------------------------------------------------------------- touch */

/* A device whose input is on the display itself: INPUT_PROP_DIRECT. */
static void put_touch(struct text *text)
{
	char devices[16384], name[VALUE_MAX] = "";
	char *rest = devices, *line;

	file_read_text("/proc/bus/input/devices", devices, sizeof(devices));
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			name[0] = '\0';
		else if (strncmp(line, "N: Name=\"", 9) == 0)
			snprintf(
				name, sizeof(name), "%.*s", (int)strcspn(line + 9, "\""), line + 9);
		else if (strncmp(line, "B: PROP=", 8) == 0 && strtoul(line + 8, NULL, 16) & 2) {
			text_put(text, "touch", name);
			return;
		}
	}
	text_put(text, "touch", "none");
}

/* ---------------------------------------------------------------- network */

static void put_wifi(struct text *text)
{
	glob_t found;
	size_t count = file_list("/sys/class/net/*/phy80211", &found);
	char name[VALUE_MAX], path[160], state[VALUE_MAX];

	if (count == 0) {
		text_put(text, "wifi", "none");
	} else {
		const char *first = file_list_path(&found, 0) + strlen("/sys/class/net/");

		snprintf(name, sizeof(name), "%.*s", (int)strcspn(first, "/"), first);
		snprintf(path, sizeof(path), "/sys/class/net/%s/operstate", name);
		text_put(text, "wifi", name);
		if (file_read_text(path, state, sizeof(state)) > 0)
			text_put(text, "wifi.state", state);
	}
	file_free_list(&found);
}

static void put_address(struct text *text)
{
	struct ifaddrs *list = NULL;
	char address[INET_ADDRSTRLEN] = "none";

	if (getifaddrs(&list) != 0)
		list = NULL;
	for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
		const struct sockaddr_in *inet = (const void *)at->ifa_addr;

		if (!inet || inet->sin_family != AF_INET || at->ifa_flags & IFF_LOOPBACK)
			continue;
		inet_ntop(AF_INET, &inet->sin_addr, address, sizeof(address));
		break;
	}
	freeifaddrs(list);
	text_put(text, "ip", address);
}

void panel_write_facts(struct text *text)
{
	put_display(text);
	put_touch(text);
	put_wifi(text);
	put_address(text);
}
