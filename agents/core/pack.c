/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/pack.h"

#include "protocol/memory.h"
#include "protocol/series.h"

#define COUNT_MIN     16u  /* fewer are not worth the work */
#define VALUES_PER_MS 500u /* of a slow core */

/* A series as the coder sees it: counts, or the steps from stamp to stamp. */
struct source {
	const struct window_series *series;
	uint32_t size;	   /* bytes before the coded ones: the first stamp */
	uint32_t at;	   /* the next value */
	uint64_t previous; /* stamp */
};

static void source_init(struct source *source, const struct window_series *series)
{
	bool is_stamps = series->kind == SERIES_KIND_STAMPS;

	source->series = series;
	source->size = is_stamps ? sizeof(uint64_t) : 0;
	source->at = is_stamps;
	source->previous = is_stamps ? ((const uint64_t *)series->data)[0] : 0;
}

/* False at the end. A step that does not fit is cut: steps_fit() has looked before. */
static bool source_next(struct source *source, int32_t *value)
{
	const struct window_series *series = source->series;

	if (source->at == series->count)
		return false;
	if (series->kind == SERIES_KIND_STAMPS) {
		uint64_t stamp = ((const uint64_t *)series->data)[source->at];

		*value = (int32_t)(uint32_t)(stamp - source->previous);
		source->previous = stamp;
	} else {
		*value = ((const int32_t *)series->data)[source->at];
	}
	source->at++;
	return true;
}

static bool steps_fit(const struct window_series *series)
{
	const uint64_t *stamps = series->data;

	for (uint32_t i = 1; i < series->count; i++) {
		/* As a step from INT32_MIN on. */
		uint64_t step = stamps[i] - stamps[i - 1] + 0x80000000u;

		if (step > UINT32_MAX)
			return false;
	}
	return true;
}

static int32_t find_base(const struct window_series *series)
{
	const uint64_t *stamps = series->data;

	if (series->kind == SERIES_KIND_COUNTS)
		return codec_find_base(series->data, series->count);
	/* Steps of one clock are alike: any of them will do. */
	return (int32_t)(uint32_t)(stamps[1] - stamps[0]);
}

/* Bytes written; `capacity` when it does not get smaller than that. */
static size_t encode(const struct window_series *series, struct codec_encoder *encoder,
	uint8_t *bytes, size_t capacity)
{
	struct source source;
	size_t size, used;
	int32_t value;

	source_init(&source, series);
	size = source.size;
	memcpy(bytes, series->data, size);
	while (size < capacity && source_next(&source, &value))
		size += codec_encode(encoder, &value, 1, &used, bytes + size, capacity - size);
	return size + codec_encode_end(encoder, bytes + size, capacity - size);
}

void pack_series(
	struct window_series *series, struct codec_model *model, uint8_t *spare, size_t spare_size)
{
	size_t raw_size = series->count * series_kind_size(series->kind);
	size_t capacity = raw_size < spare_size ? raw_size : spare_size;
	struct codec_encoder encoder;
	size_t size;

	/* A window measured by a plan may be asked for twice. */
	if (series->encoding != SERIES_ENCODING_RAW)
		return;
	if (series->kind == SERIES_KIND_TEXT || series->count < COUNT_MIN ||
		capacity < sizeof(uint64_t))
		return;
	if (series->kind == SERIES_KIND_STAMPS && !steps_fit(series))
		return;
	codec_encoder_init(&encoder, model, find_base(series));
	size = encode(series, &encoder, spare, capacity);
	if (size >= capacity)
		return;
	memcpy(series->data, spare, size);
	series->encoded_size = (uint32_t)size;
	series->encoding =
		series->kind == SERIES_KIND_STAMPS ? SERIES_ENCODING_STEPS : SERIES_ENCODING_CODED;
}

uint32_t pack_estimate_ms(const struct window *window)
{
	uint64_t values = 0;

	for (uint16_t i = 0; i < window->series_count; i++)
		if (window->series[i].kind != SERIES_KIND_TEXT)
			values += window->series[i].capacity;
	return (uint32_t)(values / VALUES_PER_MS);
}
