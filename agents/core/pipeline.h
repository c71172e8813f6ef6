/* SPDX-License-Identifier: Apache-2.0 */
/*
 * B80: a job of four stages, one job after the other in the measuring thread.
 * `capture` fills a picture of 64 x 64 bytes as a sensor would, `preprocess`
 * makes 16 x 16 means of it and takes their mean away, `compute` weighs them with
 * 64 filters, `postprocess` orders the answers.  A sample of `stage.capture` and so
 * on is the counts of that stage, of `total` those of the job; the stamps lie between the stages,
 * so that nothing of a job is outside of them.  The counter
 * `pipeline_answer` is made of every job's result: it is the same on every
 * system, or the work was not.  Under a load each job comes after a rest, in
 * which the load runs.
 */
#ifndef AGENTS_CORE_PIPELINE_H
#define AGENTS_CORE_PIPELINE_H

#include "agents/core/window.h"

int pipeline_prepare(struct window *window);
uint32_t pipeline_estimate_ms(const struct window *window);
int pipeline_run(struct window *window);

#endif
