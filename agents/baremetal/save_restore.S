/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What -msave-restore lets functions begin and end with, so that each has not
 * its own row of stores and loads.  By the compiler's convention
 * __riscv_save_N is called by t0 and keeps ra and s0 to s(N-1), ra uppermost,
 * on a stack that stays aligned to 16 bytes; it may use t1.  __riscv_restore_N
 * is jumped to and returns for its function.  An interrupt may come between any
 * two instructions: what is in use never lies below the stack pointer.
 */

#define FULL_BYTES 112

	.macro NAME what, number
	.globl __riscv_\what\()_\number
	.type __riscv_\what\()_\number, @function
__riscv_\what\()_\number:
	.endm

	/* Room for all registers at first; t1 is what is given back of it. */
	.macro BEGIN_SAVE label, unused_bytes
	li t1, \unused_bytes
	addi sp, sp, -FULL_BYTES
	j \label
	.endm

	.section .text.save_restore, "ax"
	NAME save, 12
	BEGIN_SAVE save_s11, 0
	NAME save, 11
	NAME save, 10
	BEGIN_SAVE save_s10, 16
	NAME save, 9
	NAME save, 8
	BEGIN_SAVE save_s8, 32
	NAME save, 7
	NAME save, 6
	BEGIN_SAVE save_s6, 48
	NAME save, 5
	NAME save, 4
	BEGIN_SAVE save_s4, 64
	NAME save, 3
	NAME save, 2
	BEGIN_SAVE save_s2, 80
	NAME save, 1
	NAME save, 0
	BEGIN_SAVE save_s0, 96
save_s11:
	sd s11, 8(sp)
save_s10:
	sd s10, 16(sp)
	sd s9, 24(sp)
save_s8:
	sd s8, 32(sp)
	sd s7, 40(sp)
save_s6:
	sd s6, 48(sp)
	sd s5, 56(sp)
save_s4:
	sd s4, 64(sp)
	sd s3, 72(sp)
save_s2:
	sd s2, 80(sp)
	sd s1, 88(sp)
save_s0:
	sd s0, 96(sp)
	sd ra, 104(sp)
	add sp, sp, t1
	jr t0

	NAME restore, 12
	ld s11, 8(sp)
	addi sp, sp, 16
	NAME restore, 11
	NAME restore, 10
	ld s10, 0(sp)
	ld s9, 8(sp)
	addi sp, sp, 16
	NAME restore, 9
	NAME restore, 8
	ld s8, 0(sp)
	ld s7, 8(sp)
	addi sp, sp, 16
	NAME restore, 7
	NAME restore, 6
	ld s6, 0(sp)
	ld s5, 8(sp)
	addi sp, sp, 16
	NAME restore, 5
	NAME restore, 4
	ld s4, 0(sp)
	ld s3, 8(sp)
	addi sp, sp, 16
	NAME restore, 3
	NAME restore, 2
	ld s2, 0(sp)
	ld s1, 8(sp)
	addi sp, sp, 16
	NAME restore, 1
	NAME restore, 0
	ld s0, 0(sp)
	ld ra, 8(sp)
	addi sp, sp, 16
	ret
	.section .note.GNU-stack, "", @progbits
