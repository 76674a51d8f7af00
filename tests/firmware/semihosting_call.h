/* A semihosting call (RISC-V semihosting 0.95). */
#ifndef TESTS_FIRMWARE_SEMIHOSTING_CALL_H
#define TESTS_FIRMWARE_SEMIHOSTING_CALL_H

#include <stdint.h>

/* The three instructions must be uncompressed and on one page. */
__attribute__((noinline, aligned(16))) static int64_t call(uint64_t operation, const void *argument)
{
    register uint64_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (int64_t)a0;
}

#endif
