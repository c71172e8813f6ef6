/* SPDX-License-Identifier: Apache-2.0 */
#include "harness/lab_init.h"

#include <dirent.h>
#include <hidapi/hidapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/cardcheck.h"

#define MUXES	   "/dev/usb-sd-mux"
#define DCT_VENDOR 0x16c0
#define DCT_RELAY  0x05df
#define CH340	   0x1a86

/* -------------------------------------------------------------------- find */

static void find_muxes(struct lab_init *found)
{
	DIR *dir = opendir(MUXES);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) && found->mux_count < LAB_INIT_NAMES_MAX)
		if (entry->d_name[0] != '.' && strlen(entry->d_name) < sizeof(found->muxes[0]))
			strcpy(found->muxes[found->mux_count++], entry->d_name);
	if (dir)
		closedir(dir);
}

void lab_init_find(struct lab_init *found)
{
	static const struct cardcheck here = {"/sys", "/proc/self/mountinfo"};
	struct hid_device_info *relays;
	int ports;

	*found = (struct lab_init){0};
	ports = portmatch_list(found->ports, LAB_INIT_PORTS_MAX);
	found->port_count = ports > 0 ? (size_t)ports : 0;
	find_muxes(found);
	if (cardcheck_list(&here, "/dev/disk/by-id", found->cards, sizeof(found->cards)))
		snprintf(found->first_card, sizeof(found->first_card), "%.*s",
			(int)strcspn(found->cards, " "), found->cards);
	relays = hid_enumerate(DCT_VENDOR, DCT_RELAY);
	found->has_hid_relay = relays != NULL;
	hid_free_enumeration(relays);
}

/* ------------------------------------------------------------------- guess */

/* -1: none. A CH340 is the console only where there is nothing else. */
static int guess_console(const struct lab_init *found)
{
	int any = -1;

	for (size_t i = 0; i < found->port_count; i++) {
		if (!found->ports[i].is_usb)
			continue;
		if (found->ports[i].vendor != CH340)
			return (int)i;
		if (any < 0)
			any = (int)i;
	}
	return any;
}

static int guess_relay(const struct lab_init *found, int console)
{
	for (size_t i = 0; i < found->port_count; i++)
		if ((int)i != console && found->ports[i].is_usb && found->ports[i].vendor == CH340)
			return (int)i;
	return -1;
}

static bool is_serial_unique(const struct lab_init *found, const struct portmatch_candidate *port)
{
	unsigned same = 0;

	for (size_t i = 0; i < found->port_count; i++)
		same += found->ports[i].is_usb && found->ports[i].vendor == port->vendor &&
			found->ports[i].product == port->product &&
			strcmp(found->ports[i].serial, port->serial) == 0;
	return port->serial[0] && same == 1;
}

/* ------------------------------------------------------------------- write */

/* What is no plain text in an adapter's own words would break the file. */
static void write_text(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', file);
		if ((unsigned char)*text >= ' ' && (unsigned char)*text < 127)
			fputc(*text, file);
	}
}

static void write_match(
	FILE *file, const struct lab_init *found, const struct portmatch_candidate *port)
{
	fprintf(file, "{ ");
	if (is_serial_unique(found, port)) {
		fprintf(file, "\"usb\": \"%04x:%04x\", \"serial\": \"", (unsigned)port->vendor,
			(unsigned)port->product);
		write_text(file, port->serial);
	} else {
		fprintf(file, "\"path\": \"");
		write_text(file, port->usb_path);
	}
	fprintf(file, "\" }");
}

static void write_ports(FILE *file, const struct lab_init *found)
{
	fprintf(file, "      // Serial ports here:%s\n", found->port_count ? "" : " none");
	for (size_t i = 0; i < found->port_count; i++) {
		const struct portmatch_candidate *port = &found->ports[i];

		fprintf(file, "      //   ");
		write_text(file, port->path);
		if (port->is_usb) {
			fprintf(file, ", %04x:%04x, serial \"", (unsigned)port->vendor,
				(unsigned)port->product);
			write_text(file, port->serial);
			fprintf(file, "\", plugged at ");
			write_text(file, port->usb_path);
		}
		fprintf(file, "\n");
	}
}

static void write_console(FILE *file, const struct lab_init *found, int console)
{
	write_ports(file, found);
	if (console < 0) {
		fprintf(file,
			"      // No USB adapter was found: say where the console is. A console server:\n"
			"      //   { \"driver\": \"rfc2217\", \"address\": \"HOST:PORT\" }\n"
			"      \"console\": { \"driver\": \"serial\", \"path\": \"/dev/ttyS0\" },\n");
		return;
	}
	fprintf(file,
		"      // A guess: see by `sameboard console board1` whether it is the board.\n"
		"      \"console\": { \"driver\": \"serial\", \"match\": ");
	write_match(file, found, &found->ports[console]);
	fprintf(file, ", \"baud\": 115200 },\n");
}

static void write_power(FILE *file, const struct lab_init *found, int relay)
{
	fprintf(file,
		"      // Other switches: dcthid, uhubctl, tasmota, shelly1, shelly2, pdudaemon, "
		"command.\n");
	if (found->has_hid_relay) {
		fprintf(file,
			"      // A HID relay (16c0:05df) is plugged in.\n"
			"      \"power\": { \"driver\": \"dcthid\", \"channel\": 1, \"off_ms\": "
			"2000 },\n");
	} else if (relay >= 0) {
		fprintf(file,
			"      // A guess: a CH340 that is not the console. A relay with one channel\n"
			"      // mostly never answers, and then needs \"silent\": true.\n"
			"      \"power\": { \"driver\": \"lcus\", \"channel\": 1, \"match\": ");
		write_match(file, found, &found->ports[relay]);
		fprintf(file, ", \"off_ms\": 2000 },\n");
	} else {
		fprintf(file,
			"      // No relay was found: a program called with on, off and get.\n"
			"      \"power\": { \"driver\": \"command\", \"command\": \"./power-switch\", "
			"\"off_ms\": 2000 },\n");
	}
}

static void write_card(FILE *file, const struct lab_init *found)
{
	const char *lead = found->mux_count ? "" : "// ";

	fprintf(file, "      // SD muxes in " MUXES ":%s", found->mux_count ? "" : " none");
	for (size_t i = 0; i < found->mux_count; i++) {
		fprintf(file, " ");
		write_text(file, found->muxes[i]);
	}
	fprintf(file, "\n      // Removable disks here: ");
	write_text(file, found->cards[0] ? found->cards : "none");
	fprintf(file,
		"\n      // The wrong disk is overwritten: \"card\" must be the one in the mux.\n");
	fprintf(file, "      %s\"sdmux\": { \"driver\": \"usbsdmux\", \"device\": \"", lead);
	write_text(file, found->mux_count ? found->muxes[0] : "id-0001");
	fprintf(file, "\",\n      %s  \"card\": \"", lead);
	write_text(file, found->first_card[0] ? found->first_card : "/dev/disk/by-id/CHANGE-THIS");
	fprintf(file, "\" },\n");
}

char *lab_init_write(const struct lab_init *found)
{
	int console = guess_console(found);
	char *text = NULL;
	size_t size = 0;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	fprintf(file,
		"// Written by `sameboard lab init` from what is plugged in; nothing was asked or\n"
		"// switched.  Check each line, then `sameboard doctor board1` proves the wires.\n"
		"{\n"
		"  \"boards\": {\n"
		"    \"board1\": {\n"
		"      // As image manifests name it in their \"boards\".\n"
		"      \"model\": \"lichee-rv-86-panel\",\n");
	write_console(file, found, console);
	write_power(file, found, guess_relay(found, console));
	write_card(file, found);
	fprintf(file, "      \"loader\": { \"prompt\": \"=> \", \"interrupt_hex\": \"20\" },\n"
		      "      // Where the power goes after every job.\n"
		      "      \"rest\": \"off\"\n"
		      "    }\n"
		      "  }\n"
		      "}\n");
	if (fclose(file) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
