/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and trap vector.  The first 64 bytes are the RISC-V Linux image header
 * (Linux, Documentation/arch/riscv/boot-image-header.rst), so that U-Boot's
 * booti, or QEMU's -kernel, starts the image with a0 = hart and a1 = device
 * tree.  The image is linked at 0 and moves itself to wherever it was put.
 */

#define R_RISCV_RELATIVE 3
#define FRAME_BYTES 144

	.section .head, "ax"
	.globl _start
_start:
	.option push
	.option norvc
	j start
	.word 0
	.option pop
	.dword 0x200000			/* text_offset from the start of DRAM */
	.dword _end - _start		/* image size with bss and stack */
	.dword 0			/* flags: little endian */
	.word 2				/* header version 0.2 */
	.word 0
	.dword 0
	.ascii "RISCV\0\0\0"
	.ascii "RSC\x05"
	.word 0

	.text
start:
	rdtime s2
	csrw sie, zero
	csrci sstatus, 2
	csrw satp, zero
	mv s0, a0
	mv s1, a1

	lla t0, _rela_start
	lla t1, _rela_end
	lla t2, _start
	li t5, R_RISCV_RELATIVE
1:	bgeu t0, t1, 3f
	ld t3, 8(t0)
	bne t3, t5, 2f
	ld t3, 0(t0)
	ld t4, 16(t0)
	add t3, t3, t2
	add t4, t4, t2
	sd t4, 0(t3)
2:	addi t0, t0, 24
	j 1b

3:	lla t0, _bss_start
	lla t1, _bss_end
4:	bgeu t0, t1, 5f
	sd zero, 0(t0)
	addi t0, t0, 8
	j 4b

5:	lla sp, _stack_top
	lla t0, trap_entry
	csrw stvec, t0
	mv a0, s0
	mv a1, s1
	mv a2, s2
	call main
6:	wfi
	j 6b

/*
 * Only what a C function may clobber is saved: a trap either returns to where
 * it came from or never.  The counter is read first thing, since that reading
 * is the stamp of interrupt entry.  There are two vectors, since instret may
 * be closed, and asking would cost every trap a branch.
 */
	.macro TRAP_VECTOR name, has_instret
	.globl \name
	.balign 4
\name:
	addi sp, sp, -FRAME_BYTES
	sd t0, 8(sp)
	rdtime t0
	sd t0, 0(sp)
	.if \has_instret
	csrr t0, instret
	sd t0, 136(sp)
	.endif
	sd ra, 16(sp)
	sd t1, 24(sp)
	sd t2, 32(sp)
	sd t3, 40(sp)
	sd t4, 48(sp)
	sd t5, 56(sp)
	sd t6, 64(sp)
	sd a0, 72(sp)
	sd a1, 80(sp)
	sd a2, 88(sp)
	sd a3, 96(sp)
	sd a4, 104(sp)
	sd a5, 112(sp)
	sd a6, 120(sp)
	sd a7, 128(sp)
	ld a0, 0(sp)
	.if \has_instret
	ld a1, 136(sp)
	.else
	li a1, 0
	.endif
	call trap_handle
	ld t0, 8(sp)
	ld ra, 16(sp)
	ld t1, 24(sp)
	ld t2, 32(sp)
	ld t3, 40(sp)
	ld t4, 48(sp)
	ld t5, 56(sp)
	ld t6, 64(sp)
	ld a0, 72(sp)
	ld a1, 80(sp)
	ld a2, 88(sp)
	ld a3, 96(sp)
	ld a4, 104(sp)
	ld a5, 112(sp)
	ld a6, 120(sp)
	ld a7, 128(sp)
	addi sp, sp, FRAME_BYTES
	sret
	.endm

	TRAP_VECTOR trap_entry, 0
	TRAP_VECTOR trap_entry_instret, 1
	.section .note.GNU-stack, "", @progbits
