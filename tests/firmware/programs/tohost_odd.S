# tohost at an address that is no multiple of 8.
    .section .text.start, "ax", @progbits
    .globl  _start
_start:
    j       _start

    .data
    .balign 8
    .word   0
    .globl  tohost
tohost:
    .dword  0
    .section .note.GNU-stack, "", @progbits
