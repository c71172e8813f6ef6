/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to lab: a lab file as document_read() fills it.
 */
#ifndef SAMEBOARD_HARNESS_LAB_FILE_H
#define SAMEBOARD_HARNESS_LAB_FILE_H

#include "harness/lab.h"

struct lab_file_board {
	struct lab_board board;
	const char *interrupt_hex;
};

struct lab_file {
	struct lab_file_board *boards;
	size_t board_count;
};

#endif
