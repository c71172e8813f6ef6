/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/baremetal/sbi.h"

#define SBI_EXTENSION_BASE	 0x10ul
#define SBI_EXTENSION_PUT_LEGACY 0x01ul
#define SBI_BASE_IMPLEMENTATION	 1ul
#define SBI_BASE_VERSION	 2ul
#define SBI_BASE_PROBE		 3ul
#define SBI_RESET_TYPE_COLD	 1ul

struct sbi_result {
	long error;
	unsigned long value;
};

static struct sbi_result sbi_call(
	unsigned long extension, unsigned long function, unsigned long first, unsigned long second)
{
	register unsigned long a0 __asm__("a0") = first;
	register unsigned long a1 __asm__("a1") = second;
	register unsigned long a6 __asm__("a6") = function;
	register unsigned long a7 __asm__("a7") = extension;

	__asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
	return (struct sbi_result){.error = (long)a0, .value = a1};
}

int sbi_probe_extension(unsigned long extension)
{
	struct sbi_result result = sbi_call(SBI_EXTENSION_BASE, SBI_BASE_PROBE, extension, 0);

	return result.error == 0 && result.value != 0;
}

unsigned long sbi_get_implementation(void)
{
	return sbi_call(SBI_EXTENSION_BASE, SBI_BASE_IMPLEMENTATION, 0, 0).value;
}

unsigned long sbi_get_version(void)
{
	return sbi_call(SBI_EXTENSION_BASE, SBI_BASE_VERSION, 0, 0).value;
}

void sbi_set_timer(uint64_t counts)
{
	sbi_call(SBI_EXTENSION_TIME, 0, counts, 0);
}

void sbi_reset_system(void)
{
	sbi_call(SBI_EXTENSION_RESET, 0, SBI_RESET_TYPE_COLD, 0);
}

void sbi_put_character(char c)
{
	sbi_call(SBI_EXTENSION_PUT_LEGACY, 0, (unsigned char)c, 0);
}
