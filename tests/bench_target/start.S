/* SPDX-License-Identifier: Apache-2.0 */
	.section .text.start
	.globl	_start
_start:
	la	sp, stack_end
	call	main
1:	wfi
	j	1b

	.bss
	.balign	16
	.space	65536
stack_end:
