/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/imagefile.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_SIZE (256u * 1024u)

enum format {
	FORMAT_RAW,
	FORMAT_GZIP,
	FORMAT_XZ,
	FORMAT_ZSTD,
};

struct imagefile {
	char *path;
	char error[FAIL_TEXT_SIZE];
	int fd;
	enum format format;
	uint64_t size, position; /* of the file */
	unsigned char *input;	 /* of a compressed one */
	size_t input_at, input_size;
	bool is_at_end;	 /* the file has no more */
	bool is_between; /* a compressed stream has just ended */
	z_stream gzip;
	lzma_stream xz;
	ZSTD_DStream *zstd;
};

static const char *const format_names[] = {"raw", "gzip", "xz", "zstd"};

static int fail(struct imagefile *image, int code, const char *what)
{
	return fail_format(image->error, sizeof(image->error), code, "image %s: %s",
		image->path ? image->path : "", what);
}

const char *imagefile_error(const struct imagefile *image)
{
	return image ? image->error : "out of memory";
}

const char *imagefile_format(const struct imagefile *image)
{
	return format_names[image->format];
}

bool imagefile_is_raw(const struct imagefile *image)
{
	return image->format == FORMAT_RAW;
}

uint64_t imagefile_size(const struct imagefile *image)
{
	return image->size;
}

uint64_t imagefile_position(const struct imagefile *image)
{
	return image->position;
}

/* ------------------------------------------------------------- open, close */

static enum format find_format(const unsigned char *start, size_t size)
{
	static const struct {
		enum format format;
		unsigned char bytes[6];
		size_t size;
	} rows[] = {
		{FORMAT_GZIP, {0x1f, 0x8b, 8}, 3},
		{FORMAT_XZ, {0xfd, '7', 'z', 'X', 'Z', 0}, 6},
		{FORMAT_ZSTD, {0x28, 0xb5, 0x2f, 0xfd}, 4},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (size >= rows[i].size && !memcmp(start, rows[i].bytes, rows[i].size))
			return rows[i].format;
	return FORMAT_RAW;
}

static void end_streams(struct imagefile *image)
{
	if (image->format == FORMAT_GZIP)
		inflateEnd(&image->gzip);
	if (image->format == FORMAT_XZ)
		lzma_end(&image->xz);
	ZSTD_freeDStream(image->zstd);
	image->zstd = NULL;
	image->gzip = (z_stream){.next_in = NULL};
	image->xz = (lzma_stream)LZMA_STREAM_INIT;
}

static int begin_stream(struct imagefile *image)
{
	bool is_ready = true;

	switch (image->format) {
	case FORMAT_GZIP:
		is_ready = inflateInit2(&image->gzip, 16 + MAX_WBITS) == Z_OK;
		break;
	case FORMAT_XZ:
		is_ready =
			lzma_stream_decoder(&image->xz, 512u << 20, LZMA_CONCATENATED) == LZMA_OK;
		break;
	case FORMAT_ZSTD:
		image->zstd = ZSTD_createDStream();
		is_ready = image->zstd != NULL;
		break;
	case FORMAT_RAW:
		break;
	}
	if (is_ready && image->format != FORMAT_RAW && !image->input)
		image->input = malloc(INPUT_SIZE);
	if (!is_ready || (image->format != FORMAT_RAW && !image->input))
		return fail(image, -ENOMEM, "out of memory");
	return 0;
}

int imagefile_open(struct imagefile **out, const char *path)
{
	struct imagefile *image = calloc(1, sizeof(*image));
	unsigned char start[8];
	struct stat now;
	ssize_t got;

	*out = image;
	if (!image)
		return -ENOMEM;
	image->fd = -1;
	image->path = strdup(path);
	if (!image->path)
		return fail(image, -ENOMEM, "out of memory");
	image->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (image->fd < 0 || fstat(image->fd, &now))
		return fail(image, -errno, strerror(errno));
	if (!S_ISREG(now.st_mode) || !now.st_size)
		return fail(image, -EINVAL, "it is empty or no regular file");
	image->size = (uint64_t)now.st_size;
	got = pread(image->fd, start, sizeof(start), 0);
	if (got < 0)
		return fail(image, -errno, strerror(errno));
	image->format = find_format(start, (size_t)got);
	posix_fadvise(image->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return begin_stream(image);
}

void imagefile_close(struct imagefile *image)
{
	if (!image)
		return;
	end_streams(image);
	if (image->fd >= 0)
		close(image->fd);
	free(image->input);
	free(image->path);
	free(image);
}

int imagefile_rewind(struct imagefile *image)
{
	end_streams(image);
	if (lseek(image->fd, 0, SEEK_SET) < 0)
		return fail(image, -errno, strerror(errno));
	image->position = 0;
	image->input_at = image->input_size = 0;
	image->is_at_end = image->is_between = false;
	return begin_stream(image);
}

/* -------------------------------------------------------------------- read */

/* Bytes of the file, or 0 at its end. */
static ssize_t read_file(struct imagefile *image, void *buffer, size_t size, struct sha256 *hash)
{
	ssize_t got;

	do
		got = read(image->fd, buffer, size);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return fail(image, -errno, strerror(errno));
	if (got > 0 && hash)
		sha256_update(hash, buffer, (size_t)got);
	image->position += (uint64_t)got;
	return got;
}

static int fill_input(struct imagefile *image, struct sha256 *hash)
{
	ssize_t got;

	if (image->input_at < image->input_size || image->is_at_end)
		return 0;
	got = read_file(image, image->input, INPUT_SIZE, hash);
	if (got < 0)
		return (int)got;
	image->input_at = 0;
	image->input_size = (size_t)got;
	image->is_at_end = got == 0;
	return 0;
}

/* Each: takes from the input, gives to out, 0 or -EBADMSG; *gave how many. */
static int step_gzip(struct imagefile *image, unsigned char *out, size_t size, size_t *gave)
{
	z_stream *gzip = &image->gzip;
	int ret;

	if (image->is_between && image->input_at < image->input_size && inflateReset(gzip) != Z_OK)
		return -EBADMSG;
	gzip->next_in = image->input + image->input_at;
	gzip->avail_in = (uInt)(image->input_size - image->input_at);
	gzip->next_out = out;
	gzip->avail_out = (uInt)size;
	ret = inflate(gzip, Z_NO_FLUSH);
	image->input_at = image->input_size - gzip->avail_in;
	*gave = size - gzip->avail_out;
	image->is_between = ret == Z_STREAM_END;
	return ret == Z_OK || ret == Z_STREAM_END || ret == Z_BUF_ERROR ? 0 : -EBADMSG;
}

static int step_xz(struct imagefile *image, unsigned char *out, size_t size, size_t *gave)
{
	lzma_stream *xz = &image->xz;
	lzma_ret ret;

	xz->next_in = image->input + image->input_at;
	xz->avail_in = image->input_size - image->input_at;
	xz->next_out = out;
	xz->avail_out = size;
	ret = lzma_code(xz, image->is_at_end ? LZMA_FINISH : LZMA_RUN);
	image->input_at = image->input_size - xz->avail_in;
	*gave = size - xz->avail_out;
	image->is_between = ret == LZMA_STREAM_END;
	return ret == LZMA_OK || ret == LZMA_STREAM_END || ret == LZMA_BUF_ERROR ? 0 : -EBADMSG;
}

static int step_zstd(struct imagefile *image, unsigned char *out, size_t size, size_t *gave)
{
	ZSTD_inBuffer in = {image->input, image->input_size, image->input_at};
	ZSTD_outBuffer to = {out, size, 0};
	size_t ret = ZSTD_decompressStream(image->zstd, &to, &in);

	image->input_at = in.pos;
	*gave = to.pos;
	image->is_between = ret == 0;
	return ZSTD_isError(ret) ? -EBADMSG : 0;
}

static int step(struct imagefile *image, unsigned char *out, size_t size, size_t *gave)
{
	switch (image->format) {
	case FORMAT_GZIP:
		return step_gzip(image, out, size, gave);
	case FORMAT_XZ:
		return step_xz(image, out, size, gave);
	case FORMAT_ZSTD:
		return step_zstd(image, out, size, gave);
	case FORMAT_RAW:
		break;
	}
	return -EINVAL;
}

static ssize_t read_packed(
	struct imagefile *image, unsigned char *out, size_t size, struct sha256 *hash)
{
	size_t used = 0;

	while (used < size) {
		size_t gave = 0, before = image->input_at;
		int ret = fill_input(image, hash);

		if (ret)
			return ret;
		if (image->is_at_end && image->is_between)
			break;
		ret = step(image, out + used, size - used, &gave);
		used += gave;
		if (ret)
			return fail(image, ret, "it is damaged, or has other bytes behind its end");
		if (image->is_at_end && !gave && !image->is_between && image->input_at == before)
			return fail(image, -EBADMSG, "it breaks off: it is shorter than it was");
	}
	return (ssize_t)used;
}

ssize_t imagefile_read(struct imagefile *image, void *buffer, size_t size, struct sha256 *hash)
{
	unsigned char *out = buffer;
	size_t used = 0;

	if (image->format != FORMAT_RAW)
		return read_packed(image, out, size, hash);
	while (used < size) {
		ssize_t got = read_file(image, out + used, size - used, hash);

		if (got < 0)
			return got;
		if (!got)
			break;
		used += (size_t)got;
	}
	return (ssize_t)used;
}

/* ------------------------------------------------------------------- check */

#define SECTOR	   512u
#define LOOK_AT	   (132u * 1024u)
#define EGON_MAGIC "eGON.BT0"

static bool has_text(const unsigned char *start, size_t size, size_t at, const char *text)
{
	return size >= at + strlen(text) && !memcmp(start + at, text, strlen(text));
}

static int judge_start(struct imagefile *image, const unsigned char *start, size_t size)
{
	bool has_table = size >= SECTOR && start[510] == 0x55 && start[511] == 0xaa;
	/* Boot ROMs of the D1's family look at 8 and at 128 KiB. */
	bool has_loader = has_text(start, size, 8 * 1024 + 4, EGON_MAGIC) ||
			  has_text(start, size, 128 * 1024 + 4, EGON_MAGIC);

	if (imagefile_is_raw(image) && image->size % SECTOR)
		return fail(image, -EINVAL,
			"it is no image of a card: its size is no multiple of 512 bytes");
	if (size < SECTOR || size % SECTOR)
		return fail(image, -EINVAL,
			"it is no image of a card: what is in it ends within a sector of 512 bytes");
	if (has_table || has_loader || has_text(start, size, SECTOR, "EFI PART"))
		return 0;
	return fail(image, -EINVAL,
		"it is no image of a card: it has neither a partition table nor a boot loader "
		"where a boot ROM looks for one");
}

int imagefile_check_card(struct imagefile *image)
{
	unsigned char *start = malloc(LOOK_AT);
	ssize_t got;
	int ret;

	if (!start)
		return fail(image, -ENOMEM, "out of memory");
	ret = imagefile_rewind(image);
	got = ret ? ret : imagefile_read(image, start, LOOK_AT, NULL);
	ret = got < 0 ? (int)got : judge_start(image, start, (size_t)got);
	free(start);
	return ret ? ret : imagefile_rewind(image);
}
