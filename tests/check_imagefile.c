/* SPDX-License-Identifier: Apache-2.0 */
/* Images raw and compressed, whole and damaged; block maps; images from the network. */
#include <check.h>
#include <errno.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "boardctl/bmap.h"
#include "boardctl/card.h"
#include "boardctl/download.h"
#include "boardctl/imagefile.h"
#include "tests/http_fake.h"
#include "tests/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BLOCK	     4096u
#define BLOCKS	     300u
#define SIZE	     (BLOCK * BLOCKS)
#define PACKED_MAX   (SIZE + 65536)

static struct scratch scratch;
static unsigned char content[SIZE], packed[PACKED_MAX];

/* Blocks of noise among blocks of zeros, and a partition table's end. */
static void set_up(void)
{
	uint32_t seed = 3;

	scratch_init(&scratch);
	memset(content, 0, sizeof(content));
	for (size_t i = 0; i < SIZE; i++) {
		seed = seed * 1664525u + 1013904223u;
		if (i / BLOCK % 7 < 2)
			content[i] = (unsigned char)(seed >> 24);
	}
	content[510] = 0x55;
	content[511] = 0xaa;
}

static void tear_down(void)
{
	scratch_fini(&scratch);
}

static size_t pack_raw(void)
{
	memcpy(packed, content, SIZE);
	return SIZE;
}

static size_t pack_gzip(void)
{
	z_stream z = {
		.next_in = content, .avail_in = SIZE, .next_out = packed, .avail_out = PACKED_MAX};

	ck_assert_int_eq(deflateInit2(&z, 6, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return PACKED_MAX - z.avail_out;
}

static size_t pack_xz(void)
{
	size_t used = 0;

	ck_assert_int_eq(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, content, SIZE, packed,
				 &used, PACKED_MAX),
		LZMA_OK);
	return used;
}

static size_t pack_zstd(void)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t used;

	ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
	used = ZSTD_compress2(context, packed, PACKED_MAX, content, SIZE);
	ZSTD_freeCCtx(context);
	ck_assert(!ZSTD_isError(used));
	return used;
}

static const struct {
	const char *format;
	size_t (*pack)(void);
} formats[] = {{"raw", pack_raw}, {"gzip", pack_gzip}, {"xz", pack_xz}, {"zstd", pack_zstd}};

/* Reads to the end in such pieces: 0, or the error; *size what came. */
static int read_whole(struct imagefile *image, size_t piece, size_t *size, bool compare)
{
	static unsigned char bytes[SIZE];
	ssize_t got;

	*size = 0;
	while ((got = imagefile_read(image, bytes, piece, NULL)) > 0) {
		ck_assert_uint_le((size_t)got, piece);
		if (compare) {
			ck_assert_uint_le(*size + (size_t)got, SIZE);
			ck_assert_mem_eq(bytes, content + *size, (size_t)got);
		}
		*size += (size_t)got;
	}
	return (int)got;
}

START_TEST(each_format_is_read_as_its_content)
{
	static const size_t pieces[] = {SIZE, 65536, 4099};
	size_t size = formats[_i].pack(), whole;
	const char *path = scratch_write(&scratch, "image", packed, size);
	struct sha256 *hash = sha256_new();
	char of_file[SHA256_HEX_SIZE], wanted[SHA256_HEX_SIZE];
	struct imagefile *image;

	ck_assert_int_eq(imagefile_open(&image, path), 0);
	ck_assert_str_eq(imagefile_format(image), formats[_i].format);
	ck_assert_uint_eq(imagefile_size(image), size);
	for (size_t i = 0; i < COUNT(pieces); i++) {
		ck_assert_int_eq(imagefile_rewind(image), 0);
		ck_assert_msg(read_whole(image, pieces[i], &whole, true) == 0, "%s",
			imagefile_error(image));
		ck_assert_uint_eq(whole, SIZE);
		ck_assert_uint_eq(imagefile_position(image), size);
	}
	ck_assert_int_eq(imagefile_check_card(image), 0);
	while (imagefile_read(image, content, SIZE, hash) > 0)
		;
	sha256_finish(hash, of_file);
	ck_assert_int_eq(sha256_buffer(packed, size, wanted), 0);
	ck_assert_str_eq(of_file, wanted);
	sha256_free(hash);
	imagefile_close(image);
}
END_TEST

START_TEST(a_file_that_breaks_off_or_goes_on_is_told)
{
	size_t size = formats[_i].pack(), whole;
	struct imagefile *image;

	if (_i == 0)
		return;
	for (size_t cut = size - 1; cut > size / 2; cut -= size / 12 + 1) {
		ck_assert_int_eq(
			imagefile_open(&image, scratch_write(&scratch, "image", packed, cut)), 0);
		ck_assert_int_eq(read_whole(image, 65536, &whole, true), -EBADMSG);
		imagefile_close(image);
	}
	memcpy(packed + size, "trailing garbage, long enough for any format", 44);
	ck_assert_int_eq(
		imagefile_open(&image, scratch_write(&scratch, "image", packed, size + 44)), 0);
	ck_assert_int_eq(read_whole(image, 65536, &whole, true), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(imagefile_error(image), "image"));
	imagefile_close(image);
}
END_TEST

START_TEST(two_streams_in_one_file_are_one_content)
{
	size_t size = formats[_i].pack(), whole;
	struct imagefile *image;

	if (_i == 0)
		return;
	ck_assert_uint_le(2 * size, PACKED_MAX);
	memcpy(packed + size, packed, size);
	ck_assert_int_eq(
		imagefile_open(&image, scratch_write(&scratch, "image", packed, 2 * size)), 0);
	ck_assert_msg(read_whole(image, 65536, &whole, false) == 0, "%s", imagefile_error(image));
	ck_assert_uint_eq(whole, 2 * SIZE);
	imagefile_close(image);
}
END_TEST

START_TEST(a_flipped_bit_is_never_taken_for_the_content)
{
	static unsigned char bytes[SIZE];
	size_t size = formats[_i].pack();
	struct imagefile *image;

	if (_i == 0)
		return;
	for (size_t i = 0; i < 16; i++) {
		size_t at = 8 + (size - 8) / 16 * i + i % 8, used = 0;
		ssize_t got = 0;

		packed[at] ^= (unsigned char)(1u << i % 8);
		ck_assert_int_eq(
			imagefile_open(&image, scratch_write(&scratch, "image", packed, size)), 0);
		while (used < SIZE &&
			(got = imagefile_read(image, bytes + used, SIZE - used, NULL)) > 0)
			used += (size_t)got;
		/* The end of the stream has its sum. */
		if (used == SIZE && memcmp(bytes, content, SIZE) != 0)
			while ((got = imagefile_read(image, bytes, SIZE, NULL)) > 0)
				;
		else
			got = -1;
		ck_assert_msg(got < 0, "%s: bit %zu of byte %zu", formats[_i].format, i % 8, at);
		imagefile_close(image);
		packed[at] ^= (unsigned char)(1u << i % 8);
	}
}
END_TEST

START_TEST(what_is_no_card_is_told)
{
	static const struct {
		const char *text;
		size_t size;
		const char *says;
	} rows[] = {
		{"# sameboard\n", 12, "no multiple of 512"},
		{"", 1024, "neither a partition table"},
	};
	struct imagefile *image;

	for (size_t i = 0; i < COUNT(rows); i++) {
		static unsigned char bytes[1024];

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, rows[i].text, strlen(rows[i].text));
		ck_assert_int_eq(imagefile_open(&image,
					 scratch_write(&scratch, "image", bytes, rows[i].size)),
			0);
		ck_assert_int_eq(imagefile_check_card(image), -EINVAL);
		ck_assert_ptr_nonnull(strstr(imagefile_error(image), rows[i].says));
		imagefile_close(image);
	}
	/* Without a partition table, but with the loader where the D1 looks for it. */
	content[510] = 0;
	memcpy(content + 8 * 1024 + 4, "eGON.BT0", 8);
	ck_assert_int_eq(
		imagefile_open(&image, scratch_write(&scratch, "image", packed, pack_zstd())), 0);
	ck_assert_msg(imagefile_check_card(image) == 0, "%s", imagefile_error(image));
	imagefile_close(image);
}
END_TEST

/* -------------------------------------------------------------- to the card */

static char card_path[256];

static struct card *open_card(unsigned char fill)
{
	static unsigned char bytes[SIZE + BLOCK];
	struct card_config config = {.device = card_path, .appear_ms = 50};
	struct card *card;

	memset(bytes, fill, sizeof(bytes));
	snprintf(card_path, sizeof(card_path), "%s",
		scratch_write(&scratch, "card", bytes, sizeof(bytes)));
	ck_assert_int_eq(card_open(&card, &config), 0);
	return card;
}

static void read_card(unsigned char *bytes)
{
	FILE *file = fopen(card_path, "r");

	ck_assert_uint_eq(fread(bytes, 1, SIZE, file), SIZE);
	fclose(file);
}

START_TEST(a_card_gets_the_content_of_each_format)
{
	static unsigned char back[SIZE];
	size_t size = formats[_i].pack();
	char sum[SHA256_HEX_SIZE], written[SHA256_HEX_SIZE], wanted[SHA256_HEX_SIZE];
	char path[256];
	struct card_image image = {.path = path, .sha256 = sum};
	struct card *card = open_card(0xee);

	snprintf(path, sizeof(path), "%s", scratch_write(&scratch, "image", packed, size));
	ck_assert_int_eq(sha256_buffer(packed, size, sum), 0);
	ck_assert_int_eq(sha256_buffer(content, SIZE, wanted), 0);
	ck_assert_msg(!card_write_image(card, &image, NULL, written), "%s", card_error(card));
	ck_assert_str_eq(written, wanted);
	read_card(back);
	ck_assert_mem_eq(back, content, SIZE);
	sum[0] = sum[0] == '0' ? '1' : '0';
	ck_assert_int_eq(card_write_image(card, &image, NULL, written), -EBADMSG);
	card_close(card);
	/* Damaged before its end: nothing is written. */
	if (_i > 0) {
		card = open_card(0xee);
		ck_assert_int_eq(truncate(path, (off_t)size - 5), 0);
		image.sha256 = NULL;
		ck_assert_int_eq(card_write_image(card, &image, NULL, NULL), -EBADMSG);
		read_card(back);
		ck_assert_uint_eq(back[0], 0xee);
		card_close(card);
	}
}
END_TEST

/* The map of the content as bmaptool writes it; damage: what is wrong with it. */
static const char *write_map(const char *damage)
{
	static char text[200000];
	char sum[SHA256_HEX_SIZE], *at;
	size_t used;

	used = (size_t)snprintf(text, sizeof(text),
		"<?xml version=\"1.0\" ?>\n<!-- ChecksumType -->\n<bmap version=\"2.0\">\n"
		"    <ImageSize> %u </ImageSize>\n    <BlockSize> %u </BlockSize>\n"
		"    <BlocksCount> %u </BlocksCount>\n    <ChecksumType> sha256 </ChecksumType>\n"
		"    <BmapFileChecksum> %064d </BmapFileChecksum>\n    <BlockMap>\n",
		SIZE, BLOCK, BLOCKS, 0);
	for (unsigned block = 0; block < BLOCKS; block += 7) {
		unsigned last = block + 1 < BLOCKS ? block + 1 : block;

		ck_assert_int_eq(sha256_buffer((char *)content + block * BLOCK,
					 (last - block + 1) * BLOCK, sum),
			0);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			last > block ? "        <Range chksum=\"%s\"> %u-%u </Range>\n"
				     : "        <Range chksum=\"%s\"> %u </Range>\n",
			sum, block, last);
	}
	used += (size_t)snprintf(text + used, sizeof(text) - used, "    </BlockMap>\n</bmap>\n");
	ck_assert_uint_lt(used, sizeof(text) - 1);
	if (strcmp(damage, "range") == 0) {
		at = strstr(text, "chksum=\"") + 8;
		*at = *at == '0' ? '1' : '0';
	}
	ck_assert_int_eq(sha256_buffer(text, used, sum), 0);
	at = strstr(text, "<BmapFileChecksum> ") + 19;
	if (strcmp(damage, "sum") != 0)
		memcpy(at, sum, 64);
	if (strcmp(damage, "cut") == 0)
		text[used / 2] = '\0';
	return scratch_write(&scratch, "map", text, strlen(text));
}

START_TEST(only_the_blocks_of_a_map_are_written)
{
	static unsigned char back[SIZE];
	size_t size = formats[_i].pack();
	char path[256], map[256];
	struct card_image image = {.path = path, .bmap = map};
	struct card *card = open_card(0xee);

	snprintf(path, sizeof(path), "%s", scratch_write(&scratch, "image", packed, size));
	snprintf(map, sizeof(map), "%s", write_map("none"));
	ck_assert_msg(!card_write_image(card, &image, NULL, NULL), "%s", card_error(card));
	read_card(back);
	for (unsigned block = 0; block < BLOCKS; block++) {
		if (block % 7 < 2)
			ck_assert_mem_eq(back + block * BLOCK, content + block * BLOCK, BLOCK);
		else
			ck_assert_uint_eq(back[block * BLOCK + 17], 0xee);
	}
	card_close(card);
}
END_TEST

START_TEST(a_wrong_map_ends_it_before_the_first_byte)
{
	static const struct {
		const char *damage;
		int error;
		const char *says;
	} rows[] = {
		{"sum", -EBADMSG, "own checksum"},
		{"cut", -EBADMSG, "own checksum"},
		{"range", -EBADMSG, "not those of the block map"},
	};
	static unsigned char back[SIZE];
	char path[256], map[256];
	struct card_image image = {.path = path, .bmap = map};

	snprintf(path, sizeof(path), "%s", scratch_write(&scratch, "image", packed, pack_raw()));
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct card *card = open_card(0xee);
		int ret;

		snprintf(map, sizeof(map), "%s", write_map(rows[i].damage));
		ret = card_write_image(card, &image, NULL, NULL);
		ck_assert_msg(
			ret == rows[i].error, "%s: %d, %s", rows[i].damage, ret, card_error(card));
		ck_assert_msg(strstr(card_error(card), rows[i].says), "%s", card_error(card));
		read_card(back);
		ck_assert_uint_eq(back[0], 0xee);
		card_close(card);
	}
}
END_TEST

START_TEST(texts_that_are_no_maps_are_told)
{
	static const char head[] = "<bmap version=\"2.0\"><ImageSize> 8192 </ImageSize>"
				   "<BlockSize> 4096 </BlockSize><BlockMap>";
	static const struct {
		const char *head, *rest;
	} rows[] = {
		{"", "<html>"},
		{head, "</BlockMap>"},
		{head, "<Range> 2-3 </Range>"},
		{head, "<Range> 1-0 </Range>"},
		{head, "<Range> x </Range>"},
		{head, "<Range"},
		{head, "<Range> 0 </Range><Range> 0 </Range>"},
		{head, "<Range chksum=\"12\"> 0 </Range>"},
		{head, "<Range> 0-99999999999999999999 </Range>"},
		{"<bmap><ImageSize> -1 </ImageSize><BlockSize> 0 </BlockSize>", ""},
	};
	char text[1024], error[512];
	struct bmap bmap;

	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(text, sizeof(text), "%s%s", rows[i].head, rows[i].rest);
		ck_assert_msg(bmap_read(&bmap, scratch_write(&scratch, "map", text, strlen(text)),
				      error, sizeof(error)) == -EINVAL,
			"%s", text);
		bmap_free(&bmap);
	}
	ck_assert_int_eq(bmap_read(&bmap, "/no/such/map", error, sizeof(error)), -ENOENT);
	bmap_free(&bmap);
}
END_TEST

/* -------------------------------------------------------------- the network */

struct shelf {
	size_t limit; /* bytes given in one answer; 0: all */
	int status;
	bool knows_ranges;
	char range[64]; /* of the last request */
};

static void give(
	void *context, const struct http_fake_request *request, struct http_fake_answer *answer)
{
	struct shelf *shelf = context;
	const char *range = strstr(request->headers, "Range: bytes=");
	size_t from = 0;

	snprintf(shelf->range, sizeof(shelf->range), "%.*s", range ? (int)strcspn(range, "\r") : 0,
		range ? range : "");
	if (strcmp(request->target, "/images/card.img") != 0 || shelf->status) {
		answer->status = shelf->status ? shelf->status : 404;
		return;
	}
	if (range && shelf->knows_ranges) {
		from = strtoul(range + 13, NULL, 10);
		answer->status = from < SIZE ? 206 : 416;
		if (from >= SIZE)
			return;
		snprintf(answer->headers, sizeof(answer->headers),
			"Content-Range: bytes %zu-%u/%u\r\n", from, SIZE - 1, SIZE);
	}
	answer->bytes = content + from;
	answer->size = SIZE - from;
}

static struct download make_download(const char *url, char *whole, const char *sha256)
{
	static char folder[256];

	snprintf(whole, 256, "%s/images/card.img", url);
	snprintf(folder, sizeof(folder), "%s", scratch_path(&scratch, "cache/images"));
	return (struct download){
		.url = whole, .sha256 = sha256, .folder = folder, .stall_ms = 1000};
}

static void check_file(const char *path)
{
	static unsigned char back[SIZE];
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(back, 1, SIZE, file), SIZE);
	fclose(file);
	ck_assert_mem_eq(back, content, SIZE);
}

START_TEST(an_image_is_fetched_once_and_kept_by_its_hash)
{
	struct shelf shelf = {.knows_ranges = true};
	char url[256], sum[SHA256_HEX_SIZE], path[512], error[512];
	struct download download;

	ck_assert_int_eq(sha256_buffer(content, SIZE, sum), 0);
	download = make_download(http_fake_start(give, &shelf), url, sum);
	for (int i = 0; i < 2; i++) {
		ck_assert_msg(
			download_fetch(&download, path, sizeof(path), error, sizeof(error)) == 0,
			"%s", error);
		check_file(path);
	}
	ck_assert_uint_eq(http_fake_count(), 1);
	ck_assert_ptr_nonnull(strstr(path, sum));
	/* What the disk has made of it since is not believed. */
	ck_assert_int_eq(truncate(path, SIZE / 2), 0);
	ck_assert_int_eq(download_fetch(&download, path, sizeof(path), error, sizeof(error)), 0);
	check_file(path);
	http_fake_stop();
}
END_TEST

START_TEST(what_broke_off_goes_on_where_it_was)
{
	struct shelf shelf = {.knows_ranges = _i == 0};
	char url[256], sum[SHA256_HEX_SIZE], path[512], error[512];
	struct download download;

	ck_assert_int_eq(sha256_buffer(content, SIZE, sum), 0);
	download = make_download(http_fake_start(give, &shelf), url, sum);
	if (_i == 0) {
		/* Half of it, and of the rest half again... */
		http_fake_fail_next(HTTP_FAKE_HALF, 4);
		ck_assert_msg(
			download_fetch(&download, path, sizeof(path), error, sizeof(error)) == 0,
			"%s", error);
		ck_assert_uint_eq(http_fake_count(), 5);
		ck_assert_str_ne(shelf.range, "");
	} else {
		/* A server that always begins anew and always breaks off. */
		download.check = NULL;
		http_fake_set_fault(HTTP_FAKE_CLOSES, 0);
		ck_assert_int_eq(
			download_fetch(&download, path, sizeof(path), error, sizeof(error)), -EIO);
		http_fake_set_fault(HTTP_FAKE_HEALTHY, 0);
		ck_assert_int_eq(
			download_fetch(&download, path, sizeof(path), error, sizeof(error)), 0);
	}
	check_file(path);
	http_fake_stop();
}
END_TEST

START_TEST(another_content_a_refusal_and_a_stall_are_told)
{
	static const char wrong[] =
		"0000000000000000000000000000000000000000000000000000000000000000";
	struct shelf shelf = {.knows_ranges = true};
	char url[256], sum[SHA256_HEX_SIZE], path[512], error[512];
	struct download download;

	ck_assert_int_eq(sha256_buffer(content, SIZE, sum), 0);
	download = make_download(http_fake_start(give, &shelf), url, wrong);
	ck_assert_int_eq(
		download_fetch(&download, path, sizeof(path), error, sizeof(error)), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, sum));
	ck_assert_int_ne(access(path, F_OK), 0);
	download.sha256 = NULL;
	ck_assert_int_eq(
		download_fetch(&download, path, sizeof(path), error, sizeof(error)), -EINVAL);
	download.sha256 = sum;
	shelf.status = 404;
	ck_assert_int_eq(
		download_fetch(&download, path, sizeof(path), error, sizeof(error)), -ENOENT);
	shelf.status = 403;
	ck_assert_int_eq(
		download_fetch(&download, path, sizeof(path), error, sizeof(error)), -EACCES);
	shelf.status = 0;
	http_fake_set_fault(HTTP_FAKE_SILENT, 0);
	ck_assert_int_eq(
		download_fetch(&download, path, sizeof(path), error, sizeof(error)), -ETIMEDOUT);
	http_fake_stop();
	download.url = "http://user:s3cret@127.0.0.1:1/x?token=s3cret";
	ck_assert_int_lt(download_fetch(&download, path, sizeof(path), error, sizeof(error)), 0);
	ck_assert_ptr_nonnull(strstr(error, "127.0.0.1:1/x"));
	ck_assert_ptr_null(strstr(error, "s3cret"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("imagefile");
	TCase *tcase = tcase_create("images");
	SRunner *runner = srunner_create(suite);
	int failed, count = (int)COUNT(formats);

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, each_format_is_read_as_its_content, 0, count);
	tcase_add_loop_test(tcase, a_file_that_breaks_off_or_goes_on_is_told, 0, count);
	tcase_add_loop_test(tcase, two_streams_in_one_file_are_one_content, 0, count);
	tcase_add_loop_test(tcase, a_flipped_bit_is_never_taken_for_the_content, 0, count);
	tcase_add_test(tcase, what_is_no_card_is_told);
	tcase_add_loop_test(tcase, a_card_gets_the_content_of_each_format, 0, count);
	tcase_add_loop_test(tcase, only_the_blocks_of_a_map_are_written, 0, count);
	tcase_add_test(tcase, a_wrong_map_ends_it_before_the_first_byte);
	tcase_add_test(tcase, texts_that_are_no_maps_are_told);
	tcase_add_test(tcase, an_image_is_fetched_once_and_kept_by_its_hash);
	tcase_add_loop_test(tcase, what_broke_off_goes_on_where_it_was, 0, 2);
	tcase_add_test(tcase, another_content_a_refusal_and_a_stall_are_told);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
