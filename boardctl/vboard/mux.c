/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/vboard/mux.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const mux_names[] = {
	[MUX_MODE_HOST] = "host",
	[MUX_MODE_DUT] = "dut",
	[MUX_MODE_OFF] = "off",
};

const char *mux_get_name(enum mux_mode mode)
{
	return mux_names[mode];
}

bool mux_parse_mode(const char *name, enum mux_mode *mode)
{
	for (unsigned i = 0; i < sizeof(mux_names) / sizeof(mux_names[0]); i++) {
		if (strcmp(name, mux_names[i]) == 0) {
			*mode = (enum mux_mode)i;
			return true;
		}
	}
	return false;
}

void mux_init(struct mux *mux, int dir_fd, const char *card, bool hides_card)
{
	mux->mode = MUX_MODE_DUT;
	mux->dir_fd = dir_fd;
	mux->card = card;
	mux->hides_card = hides_card;
}

int mux_set_mode(struct mux *mux, enum mux_mode mode)
{
	int result = 0;

	if (mode == MUX_MODE_HOST && !mux->hides_card)
		result = symlinkat(mux->card, mux->dir_fd, "card");
	else if (mode != MUX_MODE_HOST)
		result = unlinkat(mux->dir_fd, "card", 0);
	if (result < 0 && errno != EEXIST && errno != ENOENT)
		return -errno;
	mux->mode = mode;
	return 0;
}
