/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/core/pipeline.h"

#include "agents/core/agent.h"
#include "agents/core/counter.h"

#define SIDE	     64u
#define BLOCK	     4u
#define MEANS	     (SIDE / BLOCK)
#define INPUTS	     (MEANS * MEANS)
#define FILTERS	     64u
#define JOB_MOST_MS  4u /* far above any machine meant here */
#define REST_MS	     1u
#define SENSOR_START 0x9e3779b97f4a7c15u

struct pipeline {
	struct window_series *total;
	struct window_series *stages[4];
	uint64_t sensor;
	uint64_t answer;
	uint64_t picture[SIDE * SIDE / sizeof(uint64_t)];
	int16_t inputs[INPUTS];
	int8_t weights[FILTERS * INPUTS];
	int32_t scores[FILTERS];
	uint8_t order[FILTERS];
};

static uint64_t read_sensor(struct pipeline *pipeline)
{
	uint64_t x = pipeline->sensor;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return pipeline->sensor = x;
}

static void capture(struct pipeline *pipeline)
{
	for (uint32_t i = 0; i < SIDE * SIDE / sizeof(uint64_t); i++)
		pipeline->picture[i] = read_sensor(pipeline);
}

static int32_t add_block(const uint8_t *corner)
{
	int32_t sum = 0;

	for (uint32_t y = 0; y < BLOCK; y++)
		for (uint32_t x = 0; x < BLOCK; x++)
			sum += corner[y * SIDE + x];
	return sum;
}

static void preprocess(struct pipeline *pipeline)
{
	const uint8_t *picture = (const uint8_t *)pipeline->picture;
	int32_t mean = 0;

	for (uint32_t i = 0; i < INPUTS; i++) {
		int32_t sum = add_block(picture + i / MEANS * BLOCK * SIDE + i % MEANS * BLOCK);

		pipeline->inputs[i] = (int16_t)sum;
		mean += sum;
	}
	mean /= (int32_t)INPUTS;
	for (uint32_t i = 0; i < INPUTS; i++)
		pipeline->inputs[i] = (int16_t)(pipeline->inputs[i] - mean);
}

static void compute(struct pipeline *pipeline)
{
	const int8_t *weights = pipeline->weights;

	for (uint32_t filter = 0; filter < FILTERS; filter++, weights += INPUTS) {
		int32_t score = 0;

		for (uint32_t i = 0; i < INPUTS; i++)
			score += weights[i] * pipeline->inputs[i];
		pipeline->scores[filter] = score;
	}
}

static void postprocess(struct pipeline *pipeline)
{
	uint8_t *order = pipeline->order;

	for (uint32_t i = 0; i < FILTERS; i++) {
		uint32_t k = i;

		for (; k > 0 && pipeline->scores[order[k - 1]] < pipeline->scores[i]; k--)
			order[k] = order[k - 1];
		order[k] = (uint8_t)i;
	}
	for (uint32_t i = 0; i < FILTERS; i++)
		pipeline->answer = pipeline->answer * 31 + order[i];
}

static void (*const stages[])(struct pipeline *pipeline) = {
	capture, preprocess, compute, postprocess};

#define STAGES (sizeof(stages) / sizeof(stages[0]))

int pipeline_prepare(struct window *window)
{
	static const char *const names[STAGES] = {
		"stage.capture", "stage.preprocess", "stage.compute", "stage.postprocess"};
	struct pipeline *pipeline = arena_take(window->arena, sizeof(*pipeline));

	if (window->plan.n == 0)
		return WIRE_ERROR_BAD_RANGE;
	if (!pipeline)
		return WIRE_ERROR_NO_MEMORY;
	window->cold = window_add_counts(window, "cold", window_cold_count(window));
	pipeline->total = window_add_counts(window, "total", window->plan.n);
	for (uint32_t i = 0; i < STAGES; i++) {
		pipeline->stages[i] = window_add_counts(window, names[i], window->plan.n);
	}
	pipeline->sensor = SENSOR_START;
	for (uint32_t i = 0; i < FILTERS * INPUTS; i++)
		pipeline->weights[i] = (int8_t)(read_sensor(pipeline) >> 56);
	window->bench_data = pipeline;
	window->samples = pipeline->total;
	return 0;
}

uint32_t pipeline_estimate_ms(const struct window *window)
{
	uint64_t estimate =
		((uint64_t)window->plan.n + window_cold_count(window)) * (JOB_MOST_MS + REST_MS) +
		100;

	return estimate > UINT32_MAX ? UINT32_MAX : (uint32_t)estimate;
}

/* Stamps before, between and after the stages. */
static void run_job(struct window *window, uint64_t stamps[STAGES + 1])
{
	struct pipeline *pipeline = window->bench_data;

	/* A load is below the jobs, and would never run. */
	if (window->plan.load != MESSAGE_LOAD_IDLE)
		window->port->ops->sleep_ms(window->port, REST_MS);
	stamps[0] = counter_read();
	for (uint32_t i = 0; i < STAGES; i++) {
		stages[i](pipeline);
		stamps[i + 1] = counter_read();
	}
}

int pipeline_run(struct window *window)
{
	struct pipeline *pipeline = window->bench_data;
	uint64_t stamps[STAGES + 1];

	while (window->cold->count < window->cold->capacity) {
		run_job(window, stamps);
		window_store_counts(window->cold, (int64_t)(stamps[STAGES] - stamps[0]));
	}
	while (pipeline->total->count < pipeline->total->capacity) {
		run_job(window, stamps);
		for (uint32_t i = 0; i < STAGES; i++)
			window_store_counts(
				pipeline->stages[i], (int64_t)(stamps[i + 1] - stamps[i]));
		window_store_counts(pipeline->total, (int64_t)(stamps[STAGES] - stamps[0]));
	}
	text_put_u64(&window->counters, "pipeline_answer", pipeline->answer);
	return 0;
}
