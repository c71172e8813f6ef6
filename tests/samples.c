/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/samples.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/codec.h"

#define NS_PER_S 1000000000

/* ---------------------------------------------------------------- reading */

/* Rounded down, also below 0; saturating. */
static int64_t to_counts(int64_t ns, uint64_t hz)
{
	__extension__ typedef __int128 wide;
	wide product = (wide)ns * (wide)hz;
	wide counts = product / NS_PER_S;

	if (product % NS_PER_S < 0)
		counts--;
	if (counts > INT64_MAX)
		return INT64_MAX;
	return counts < INT64_MIN ? INT64_MIN : (int64_t)counts;
}

static int add(struct samples *samples, size_t *room, int64_t counts)
{
	if (samples->count == *room) {
		size_t more = *room ? *room * 2 : 4096;
		int32_t *values = realloc(samples->values, more * sizeof(*values));

		if (!values)
			return -ENOMEM;
		samples->values = values;
		*room = more;
	}
	if (counts > INT32_MAX || counts < INT32_MIN) {
		counts = counts > 0 ? INT32_MAX : INT32_MIN;
		samples->clipped++;
	}
	samples->values[samples->count++] = (int32_t)counts;
	return 0;
}

/* 1 and the value, 0 for an empty line, or -EINVAL. */
static int parse_line(const char *line, long long *ns)
{
	char *end;

	line += strspn(line, " \t\r\n");
	if (*line == '\0' || *line == '#')
		return 0;
	errno = 0;
	*ns = strtoll(line, &end, 10);
	if (errno || end == line)
		return -EINVAL;
	end += strspn(end, " \t\r\n");
	return *end == '\0' || *end == '#' ? 1 : -EINVAL;
}

static int read_lines(struct samples *samples, const char *path, FILE *file, uint64_t hz)
{
	char line[256];
	size_t number = 0;
	size_t room = 0;

	while (fgets(line, sizeof(line), file)) {
		long long ns = 0;
		int rc = parse_line(line, &ns);

		number++;
		if (rc < 0) {
			line[strcspn(line, "\r\n")] = '\0';
			snprintf(samples->error, sizeof(samples->error),
				"%s:%zu: \"%.40s\" is no whole number of nanoseconds", path, number,
				line);
			return rc;
		}
		rc = rc ? add(samples, &room, to_counts(ns, hz)) : 0;
		if (rc < 0) {
			snprintf(samples->error, sizeof(samples->error), "%s: out of memory", path);
			return rc;
		}
	}
	if (ferror(file)) {
		snprintf(samples->error, sizeof(samples->error), "%s: cannot be read", path);
		return -EIO;
	}
	return 0;
}

int samples_read(struct samples *samples, const char *path, uint64_t hz)
{
	FILE *file;
	int rc;

	memset(samples, 0, sizeof(*samples));
	file = fopen(path, "r");
	if (!file) {
		rc = -errno;
		snprintf(samples->error, sizeof(samples->error), "%s: %s", path, strerror(-rc));
		return rc;
	}
	rc = read_lines(samples, path, file, hz);
	fclose(file);
	return rc;
}

void samples_free(struct samples *samples)
{
	free(samples->values);
	samples->values = NULL;
	samples->count = 0;
}

const char *samples_error(const struct samples *samples)
{
	return samples->error;
}

/* ---------------------------------------------------------------- entropy */

static int compare(const void *a, const void *b)
{
	int32_t x = *(const int32_t *)a;
	int32_t y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

double samples_entropy_bits(const int32_t *values, size_t count)
{
	int32_t *sorted = malloc(count * sizeof(*sorted) + 1);
	double bits = 0;

	if (!sorted)
		return -1;
	if (count)
		memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0, same; i < count; i += same) {
		for (same = 1; i + same < count && sorted[i + same] == sorted[i];)
			same++;
		bits += (double)same * log2((double)count / (double)same);
	}
	free(sorted);
	return bits;
}

/* ------------------------------------------------------------------ codec */

size_t samples_bound(size_t count)
{
	/* 37 decisions a value; the least likely bit costs ten bits. */
	return 16 + count * 48;
}

size_t samples_encode(const int32_t *values, size_t count, int32_t base, uint8_t *bytes)
{
	struct codec_model model;
	struct codec_encoder encoder;
	size_t capacity = samples_bound(count);
	size_t used, size;

	codec_encoder_init(&encoder, &model, base);
	size = codec_encode(&encoder, values, count, &used, bytes, capacity);
	return size + codec_encode_end(&encoder, bytes + size, capacity - size);
}

int samples_decode(
	const uint8_t *bytes, size_t size, int32_t *values, size_t count, uint32_t *offset)
{
	struct codec_model model;
	struct codec_decoder decoder;
	size_t used;
	int got;

	codec_decoder_init(&decoder, &model, (uint32_t)count, (uint32_t)size);
	got = codec_decode(&decoder, bytes, size, &used, values, count);
	*offset = decoder.offset;
	return got;
}
