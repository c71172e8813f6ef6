/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/portmatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "boardctl/fail.h"

static bool parse_usb(const char *text, int *vendor, int *product)
{
	unsigned v, p;
	int end = 0;

	if (sscanf(text, "%4x:%4x%n", &v, &p, &end) != 2 || text[end])
		return false;
	*vendor = (int)v;
	*product = (int)p;
	return true;
}

static bool fits_usb_path(const char *have, const char *want)
{
	size_t have_size = strlen(have), want_size = strlen(want);

	if (have_size < want_size || strcmp(have + have_size - want_size, want))
		return false;
	return have_size == want_size || have[have_size - want_size - 1] == '-';
}

static void describe(const struct link_config *config, char *text, size_t size)
{
	snprintf(text, size, "%s%s%s%s%s%s", config->usb ? " usb " : "",
		config->usb ? config->usb : "", config->usb_serial ? " serial " : "",
		config->usb_serial ? config->usb_serial : "", config->usb_path ? " path " : "",
		config->usb_path ? config->usb_path : "");
}

static void list(
	const struct portmatch_candidate *candidates, size_t count, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		const struct portmatch_candidate *c = &candidates[i];
		int n;

		if (!c->is_usb)
			continue;
		n = snprintf(text + used, size - used, "%s%s (%04x:%04x%s%s %s)", used ? ", " : "",
			c->path, (unsigned)c->vendor, (unsigned)c->product, c->serial[0] ? " " : "",
			c->serial, c->usb_path);
		used += n > 0 ? (size_t)n : 0;
	}
}

int portmatch_choose(const struct link_config *config, const struct portmatch_candidate *candidates,
	size_t count, char *error, size_t size)
{
	int vendor = 0, product = 0, found = -1;
	char wanted[192], present[256];

	describe(config, wanted, sizeof(wanted));
	if (config->usb && !parse_usb(config->usb, &vendor, &product))
		return fail_format(error, size, -EINVAL,
			"usb \"%s\" is not vendor:product in hex, like \"0403:6001\"", config->usb);
	for (size_t i = 0; i < count; i++) {
		const struct portmatch_candidate *c = &candidates[i];

		if (!c->is_usb)
			continue;
		if (config->usb && (c->vendor != vendor || c->product != product))
			continue;
		if (config->usb_serial && strcmp(c->serial, config->usb_serial))
			continue;
		if (config->usb_path && !fits_usb_path(c->usb_path, config->usb_path))
			continue;
		if (found >= 0)
			return fail_format(error, size, -ENOTUNIQ,
				"two ports fit%s: %s and %s; add what tells them apart (serial or path)",
				wanted, candidates[found].path, c->path);
		found = (int)i;
	}
	if (found >= 0)
		return found;
	list(candidates, count, present, sizeof(present));
	return fail_format(error, size, -ENOENT, "no port fits%s; USB ports present: %s", wanted,
		present[0] ? present : "none");
}

/* The interface's directory looks like "1-3.2:1.0": bus, ports, configuration. */
static bool is_interface(const char *name, size_t size)
{
	size_t dashes = 0, colons = 0;

	for (size_t i = 0; i < size; i++) {
		if (name[i] == '-')
			dashes++;
		else if (name[i] == ':')
			colons++;
		else if (name[i] != '.' && (name[i] < '0' || name[i] > '9'))
			return false;
	}
	return dashes == 1 && colons == 1;
}

static bool is_root_hub(const char *name, size_t size)
{
	return size > 3 && !strncmp(name, "usb", 3) && name[3] >= '0' && name[3] <= '9';
}

void portmatch_usb_path(const char *sysfs_path, char *usb_path, size_t size)
{
	const char *before = NULL, *controller = NULL;
	int before_size = 0, controller_size = 0;

	usb_path[0] = '\0';
	for (const char *name = sysfs_path; *name;) {
		size_t n = strcspn(name, "/");

		if (is_root_hub(name, n)) {
			controller = before;
			controller_size = before_size;
		}
		if (controller && is_interface(name, n)) {
			const char *ports = (const char *)memchr(name, '-', n) + 1;
			bool is_pci = memchr(controller, ':', (size_t)controller_size) != NULL;
			int put = snprintf(usb_path, size, "%s-%.*s-usb-0:%.*s",
				is_pci ? "pci" : "platform", controller_size, controller,
				(int)(n - (size_t)(ports - name)), ports);

			if (put < 0 || (size_t)put >= size)
				usb_path[0] = '\0';
		}
		before = name;
		before_size = (int)n;
		name += n;
		name += strspn(name, "/");
	}
}
