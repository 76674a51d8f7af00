/* Thread-local variables of the only thread: initialised, zeroed, aligned, static in functions, and errno. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local int initialised = 42;
static _Thread_local int zeroed;
static _Thread_local double reals[4] = {0.5, 1.5};
static _Thread_local _Alignas(64) char aligned_area[100] = "aligned";
_Thread_local uint64_t visible = 0x123456789abcdef0;
extern _Thread_local uint64_t visible;

static int next(void)
{
    static _Thread_local int count = 7;
    return count++;
}

int main(void)
{
    printf("%d %d %a %a %a %s %llx\n", initialised, zeroed, reals[0], reals[1], reals[2], aligned_area,
           (unsigned long long)visible);
    printf("aligned: %d %d\n", (uintptr_t)aligned_area % 64 == 0, (uintptr_t)&visible % 8 == 0);
    for (int i = 0; i < 10; i++) {
        zeroed += next();
        reals[i % 4] += zeroed / 3.0;
        visible = visible << 5 | visible >> 59;
        initialised ^= zeroed;
        printf("%d %d %.17g %llx\n", initialised, zeroed, reals[i % 4], (unsigned long long)visible);
    }
    int *first = &initialised, *second = &zeroed;
    printf("distinct: %d\n", first != second);
    errno = 0;
    strtol("99999999999999999999", NULL, 10);
    printf("errno %d\n", errno);
    return 0;
}
