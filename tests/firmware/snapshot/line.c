/* Reads a line from the console by one semihosting call, and prints it. */
#include <stdint.h>
#include <stdio.h>

enum { SYS_OPEN = 1, SYS_READ = 6 };

static uint64_t call(uint64_t operation, const void *fields)
{
    register uint64_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = fields;
    __asm__ volatile(".option push\n.option norvc\n.balign 16\n"
                     "slli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

int main(void)
{
    char line[16] = "";
    const uint64_t console[] = {(uintptr_t) ":tt", 0, 3};
    const uint64_t input[] = {call(SYS_OPEN, console), (uintptr_t)line, sizeof line};
    uint64_t left = call(SYS_READ, input);
    printf("%d bytes: %.*s", (int)(sizeof line - left), (int)(sizeof line - left), line);
    return 0;
}
