/* SPDX-License-Identifier: Apache-2.0 */
/* One target for libFuzzer; the Makefile says which. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	return FUZZ_TARGET(bytes, size);
}
