/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/pack.h"

#include "protocol/memory.h"
#include "protocol/series.h"

#define COUNT_MIN     16u  /* fewer are not worth the work */
#define VALUES_PER_MS 250u /* of a slow core, both passes */

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

/* Whether it gets smaller and never overtakes what was read: nothing is written. */
static bool measure(const struct window_series *series, struct codec_encoder *encoder, size_t width)
{
	uint8_t scratch[CODEC_VALUE_SIZE_MAX];
	struct source source;
	size_t size, used;
	int32_t value;

	source_init(&source, series);
	size = source.size;
	while (source_next(&source, &value)) {
		size += codec_encode(encoder, &value, 1, &used, scratch, sizeof(scratch));
		if (size > WINDOW_HEADROOM + source.at * width)
			return false;
	}
	return size + codec_encode_end(encoder, scratch, sizeof(scratch)) < series->count * width;
}

/* Never ahead of what was read: measure() has looked. */
static void encode(struct window_series *series, struct codec_encoder *encoder, size_t width)
{
	uint8_t *bytes = (uint8_t *)series->data - WINDOW_HEADROOM;
	struct source source;
	size_t size, used;
	int32_t value;

	source_init(&source, series);
	size = source.size;
	memmove(bytes, series->data, size);
	while (source_next(&source, &value))
		size += codec_encode(encoder, &value, 1, &used, bytes + size,
			WINDOW_HEADROOM + source.at * width - size);
	size += codec_encode_end(encoder, bytes + size, CODEC_VALUE_SIZE_MAX);
	series->data = bytes;
	series->encoded_size = (uint32_t)size;
}

void pack_series(struct window_series *series, struct codec_model *model)
{
	size_t width = series_kind_size(series->kind);
	struct codec_encoder encoder;
	int32_t base;

	series->encoding = SERIES_ENCODING_RAW;
	if (series->kind == SERIES_KIND_TEXT || series->count < COUNT_MIN)
		return;
	if (series->kind == SERIES_KIND_STAMPS && !steps_fit(series))
		return;
	base = find_base(series);
	codec_encoder_init(&encoder, model, base);
	if (!measure(series, &encoder, width))
		return;
	codec_encoder_init(&encoder, model, base);
	encode(series, &encoder, width);
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
