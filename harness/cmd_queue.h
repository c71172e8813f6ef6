/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMEBOARD_HARNESS_CMD_QUEUE_H
#define SAMEBOARD_HARNESS_CMD_QUEUE_H

#include "harness/cli.h"

/*
 * `run` through the daemon, where one answers that has the same lab, database
 * and images: *is_done and the job's exit code.  Otherwise *is_done is false,
 * and the caller runs the job itself under the board's lock.
 */
int cmd_queue_run(struct cli *cli, bool *is_done);

#endif
