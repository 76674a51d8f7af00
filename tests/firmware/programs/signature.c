/* A signature region, as the RISCOF framework reads it after the run. */
#include <stdint.h>

extern uint32_t begin_signature[];

__asm__(".pushsection .data.signature, \"aw\", @progbits\n"
        ".balign 16\n"
        ".globl begin_signature, end_signature\n"
        "begin_signature:\n"
        ".fill 6, 4, 0xdeadbeef\n"
        "end_signature:\n"
        ".popsection");

int main(void)
{
    uint64_t product;
    __asm__("mulhu %0, %1, %2" : "=r"(product) : "r"(0xfedcba9876543210), "r"(0x0123456789abcdef));
    begin_signature[0] = 0x12345678;
    begin_signature[1] = (uint32_t)product;
    begin_signature[2] = (uint32_t)(product >> 32);
    begin_signature[4] = 0;
    return 0;
}
