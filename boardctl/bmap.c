/* SPDX-License-Identifier: Apache-2.0 */
#include "boardctl/bmap.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boardctl/fail.h"

#define FILE_MAX (16u << 20)

static int fail(char *error, size_t size, int code, const char *path, const char *what)
{
	return fail_format(error, size, code, "block map %s: %s", path, what);
}

static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t got = 0;

	if (!file)
		return NULL;
	text = malloc(FILE_MAX + 1);
	if (text) {
		got = fread(text, 1, FILE_MAX, file);
		text[got] = '\0';
	}
	fclose(file);
	return text;
}

/* What stands in <name ...> here </name>, blanks cut; NULL if there is none. */
static char *find_element(char *text, const char *name, size_t *length)
{
	char open[64];
	size_t size;
	char *at = text, *end;

	snprintf(open, sizeof(open), "<%s", name);
	size = strlen(open);
	while ((at = strstr(at, open)) != NULL) {
		if (at[size] == '>' || isspace((unsigned char)at[size]))
			break;
		at += size;
	}
	at = at ? strchr(at, '>') : NULL;
	end = at ? strchr(at, '<') : NULL;
	if (!end)
		return NULL;
	at++;
	while (at < end && isspace((unsigned char)*at))
		at++;
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	*length = (size_t)(end - at);
	return at;
}

static bool find_number(char *text, const char *name, uint64_t *number)
{
	size_t length;
	char *at = find_element(text, name, &length), *end;

	if (!at || !length || !isdigit((unsigned char)*at))
		return false;
	errno = 0;
	*number = strtoull(at, &end, 10);
	return errno == 0 && end == at + length;
}

static bool is_hash(const char *text, size_t length)
{
	return length == 64 && strspn(text, "0123456789abcdefABCDEF") >= 64;
}

/* The map's own sum was made with zeros where it stands. */
static int check_sum(char *text)
{
	char said[SHA256_HEX_SIZE] = "", sum[SHA256_HEX_SIZE];
	size_t length;
	char *at = find_element(text, "BmapFileChecksum", &length);

	if (!at)
		return 0;
	if (!is_hash(at, length))
		return -EINVAL;
	memcpy(said, at, 64);
	for (size_t i = 0; i < 64; i++)
		said[i] = (char)tolower((unsigned char)said[i]);
	memset(at, '0', 64);
	if (sha256_buffer(text, strlen(text), sum))
		return -ENOMEM;
	return strcmp(said, sum) ? -EBADMSG : 0;
}

/* One "<Range chksum="..."> 0-1 </Range>"; *next behind it. */
static int read_range(
	char *at, uint64_t block_bytes, uint64_t image_bytes, struct bmap_range *range, char **next)
{
	char *close = strchr(at, '>'), *hash = strstr(at, "chksum=\"");
	unsigned long long first, last;
	int end = 0, count;

	*range = (struct bmap_range){.sha256 = ""};
	if (!close)
		return -EINVAL;
	*next = close;
	if (hash && hash < close) {
		size_t length = strcspn(hash + 8, "\"");

		if (!is_hash(hash + 8, length))
			return -EINVAL;
		for (size_t i = 0; i < 64; i++)
			range->sha256[i] = (char)tolower((unsigned char)hash[8 + i]);
	}
	count = sscanf(close + 1, " %llu - %llu %n", &first, &last, &end);
	if (count == 1) {
		last = first;
		count = sscanf(close + 1, " %llu %n", &first, &end) == 1 ? 2 : 0;
	}
	if (count != 2 || !end || close[1 + end] != '<' || last < first ||
		last >= UINT64_MAX / block_bytes)
		return -EINVAL;
	range->start = first * block_bytes;
	range->size = (last - first + 1) * block_bytes;
	/* The last block of an image may be cut. */
	if (range->start >= image_bytes)
		return -EINVAL;
	if (range->size > image_bytes - range->start)
		range->size = image_bytes - range->start;
	return 0;
}

static int read_ranges(struct bmap *bmap, char *text, uint64_t block_bytes)
{
	uint64_t behind = 0;

	for (char *at = text; (at = strstr(at, "<Range")) != NULL;) {
		struct bmap_range *grown =
			realloc(bmap->ranges, (bmap->count + 1) * sizeof(*grown));
		int ret;

		if (!grown)
			return -ENOMEM;
		bmap->ranges = grown;
		ret = read_range(at, block_bytes, bmap->image_bytes, &grown[bmap->count], &at);
		if (ret)
			return ret;
		if (bmap->count && grown[bmap->count].start < behind)
			return -EINVAL;
		behind = grown[bmap->count].start + grown[bmap->count].size;
		bmap->count++;
	}
	return bmap->count ? 0 : -EINVAL;
}

int bmap_read(struct bmap *bmap, const char *path, char *error, size_t error_size)
{
	uint64_t block_bytes = 0;
	char *text = read_text(path), *type;
	size_t length;
	int ret;

	*bmap = (struct bmap){0};
	if (!text)
		return fail(error, error_size, -ENOENT, path, "it cannot be read");
	type = find_element(text, "ChecksumType", &length);
	if (!strstr(text, "<bmap") || !find_number(text, "ImageSize", &bmap->image_bytes) ||
		!find_number(text, "BlockSize", &block_bytes) || !bmap->image_bytes ||
		!block_bytes || block_bytes > 1u << 30)
		ret = fail(error, error_size, -EINVAL, path,
			"it is no block map: ImageSize or BlockSize is missing or wrong");
	else if (type && (length != 6 || strncmp(type, "sha256", 6) != 0))
		ret = fail(error, error_size, -EINVAL, path, "its sums are no SHA-256");
	else if ((ret = check_sum(text)))
		fail(error, error_size, ret, path, "its own checksum is wrong: it is damaged");
	else if ((ret = read_ranges(bmap, text, block_bytes)))
		fail(error, error_size, ret, path,
			"a range of it is none, has a wrong sum, or lies outside of the image");
	free(text);
	return ret;
}

void bmap_free(struct bmap *bmap)
{
	free(bmap->ranges);
	*bmap = (struct bmap){0};
}
