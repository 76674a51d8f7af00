/* Reads a line from the console by one semihosting call, and prints it. */
#include <stdint.h>
#include <stdio.h>

#include "../semihosting_call.h"

enum { SYS_OPEN = 1, SYS_READ = 6 };

int main(void)
{
    char line[16] = "";
    const uint64_t console[] = {(uintptr_t) ":tt", 0, 3};
    const uint64_t input[] = {(uint64_t)call(SYS_OPEN, console), (uintptr_t)line, sizeof line};
    const uint64_t left = (uint64_t)call(SYS_READ, input);
    printf("%d bytes: %.*s", (int)(sizeof line - left), (int)(sizeof line - left), line);
    return 0;
}
