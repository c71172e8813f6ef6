/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <hidapi/hidapi.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

#include "boardctl/drivers.h"

/*
 * DCT's "USBRelayN", HID 16c0:05df: a feature report of 9 bytes, report number
 * 0, then FF n switches on, FD n off. Read back it has the device's own id in
 * bytes 0 to 4 and the mask of closed contacts in byte 7. The USB serial number
 * is the same in all of them; the id is not.
 */
#define DCT_VENDOR  0x16c0
#define DCT_PRODUCT 0x05df
#define DCT_ON	    0xff
#define DCT_OFF	    0xfd
#define DCT_ID_SIZE 5
#define DCT_MASK_AT 7
#define REPORT_SIZE 9
#define DEVICES_MAX 16

struct power_dcthid {
	struct power base;
	hid_device *device;
	char path[256];
	unsigned relays; /* as its product's name says */
};

static struct power_dcthid *relay_of(struct power *power)
{
	return (struct power_dcthid *)power;
}

static void narrow(const wchar_t *wide, char *text, size_t size)
{
	size_t used = 0;

	for (; wide && *wide && used + 1 < size; wide++)
		text[used++] = *wide > 31 && *wide < 127 ? (char)*wide : '?';
	text[used] = '\0';
}

/* The report without its number, in bytes[8]. */
static int read_report(hid_device *device, unsigned char bytes[8])
{
	unsigned char report[REPORT_SIZE] = {0};
	int got = hid_get_feature_report(device, report, sizeof(report));

	/* Some backends leave the number out. */
	if (got != REPORT_SIZE && got != REPORT_SIZE - 1)
		return -EPROTO;
	memcpy(bytes, got == REPORT_SIZE ? report + 1 : report, 8);
	return 0;
}

static int fail_open(struct power *power, const char *path)
{
	struct stat now;

	if (!stat(path, &now) && access(path, R_OK | W_OK) != 0)
		return power_fail(power, -EACCES,
			"cannot open the relay at %s: permission denied; the udev rules of "
			"sameboard (60-sameboard.rules) give it to the group plugdev, be in it",
			path);
	return power_fail(power, -ENODEV,
		"cannot open the relay at %s: it is gone, or held by "
		"another program",
		path);
}

struct search {
	hid_device *device;
	char path[256], id[DCT_ID_SIZE + 1], other[DCT_ID_SIZE + 1], seen[128];
	unsigned relays, fits;
	int problem; /* of the last that could not be opened */
};

static void look_at(struct power *power, const struct hid_device_info *info, struct search *search)
{
	char product[32], id[DCT_ID_SIZE + 1] = "";
	unsigned char bytes[8];
	hid_device *device;
	size_t used = strlen(search->seen);

	narrow(info->product_string, product, sizeof(product));
	if (strncmp(product, "USBRelay", 8) != 0)
		return; /* the numbers are shared by many hobby devices */
	device = hid_open_path(info->path);
	if (!device) {
		search->problem = fail_open(power, info->path);
		return;
	}
	if (!read_report(device, bytes))
		for (size_t i = 0; i < DCT_ID_SIZE; i++)
			id[i] = bytes[i] > 32 && bytes[i] < 127 ? (char)bytes[i] : '?';
	snprintf(search->seen + used, sizeof(search->seen) - used, "%s%s", used ? ", " : "", id);
	if (power->config.device && strcmp(power->config.device, id) != 0) {
		hid_close(device);
		return;
	}
	if (search->fits++) {
		memcpy(search->other, id, sizeof(id));
		hid_close(device);
		return;
	}
	search->device = device;
	memcpy(search->id, id, sizeof(id));
	snprintf(search->path, sizeof(search->path), "%s", info->path);
	search->relays = (unsigned)(product[8] - '0') <= 9 ? (unsigned)(product[8] - '0') : 8;
}

static int dcthid_open(struct power *power)
{
	struct hid_device_info *list = hid_enumerate(DCT_VENDOR, DCT_PRODUCT);
	struct search search = {.device = NULL};
	unsigned count = 0;

	for (struct hid_device_info *info = list; info && count < DEVICES_MAX; info = info->next)
		look_at(power, info, &search), count++;
	hid_free_enumeration(list);
	relay_of(power)->device = search.device;
	relay_of(power)->relays = search.relays;
	if (search.fits > 1)
		return power_fail(power, -ENOTUNIQ, "two relays fit: %s and %s; %s", search.id,
			search.other,
			power->config.device ? "they have the same id, so one must go"
					     : "say which by \"device\"");
	if (!search.fits && search.problem)
		return search.problem;
	if (!search.fits)
		return power_fail(power, -ENOENT, "no USBRelay (16c0:05df)%s%.20s; present: %s",
			power->config.device ? " with the id " : "",
			power->config.device ? power->config.device : "",
			search.seen[0] ? search.seen : "none");
	snprintf(power->place, sizeof(power->place), "relay %s at %.100s", search.id, search.path);
	if (power->config.channel > search.relays)
		return power_fail(power, -EINVAL, "the %s has %u channels, not %u", power->place,
			search.relays, power->config.channel);
	return 0;
}

static void dcthid_close(struct power *power)
{
	if (relay_of(power)->device)
		hid_close(relay_of(power)->device);
}

static int dcthid_get(struct power *power, bool *on)
{
	unsigned char bytes[8];

	if (read_report(relay_of(power)->device, bytes))
		return power_fail(power, -ENODEV,
			"the %s did not answer with its 8 bytes; is it still plugged in?",
			power->place);
	*on = bytes[DCT_MASK_AT] >> (power->config.channel - 1) & 1;
	return 0;
}

static int dcthid_prove(struct power *power)
{
	return dcthid_get(power, &power->is_on);
}

static int dcthid_set(struct power *power, bool on)
{
	const unsigned char report[REPORT_SIZE] = {
		0, on ? DCT_ON : DCT_OFF, (unsigned char)power->config.channel};

	if (hid_send_feature_report(relay_of(power)->device, report, sizeof(report)) == REPORT_SIZE)
		return 0;
	return power_fail(power, -ENODEV, "the %s did not take a command; is it still plugged in?",
		power->place);
}

const struct power_driver power_dcthid_driver = {
	.name = "dcthid",
	.instance_size = sizeof(struct power_dcthid),
	.takes = POWER_NEED_DEVICE,
	.channels = 8,
	.open = dcthid_open,
	.close = dcthid_close,
	.prove = dcthid_prove,
	.set = dcthid_set,
	.get = dcthid_get,
};
