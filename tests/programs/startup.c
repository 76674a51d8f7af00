/* What must be in place before main: .data, .bss, constructors in order, string pools, large zeroed areas. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int initialised[5] = {1, -2, 3, -4, 5};
static int zeroed[1000];
static unsigned char large_zeroed[8 << 20];
static const char *const pool[] = {"shared", "shared", "distinct"};
static double reals[] = {1.5, -0.0, 1e300};
static int *pointer_to_data = &initialised[3];
static int (*function_pointer)(const char *, ...) = printf;
static struct {
    short a;
    char text[6];
    int *where;
} mixed = {-7, "hello", &zeroed[17]};
static int order[8], order_count;
uint64_t common_symbol[3];

static int counter(void)
{
    static int count = 40;
    return ++count;
}

__attribute__((constructor(201))) static void second(void)
{
    order[order_count++] = 201;
}
__attribute__((constructor(101))) static void first(void)
{
    order[order_count++] = 101;
}
__attribute__((constructor)) static void last(void)
{
    order[order_count++] = 65535;
    /* The C library already works here. */
    printf("constructor speaks, counter %d\n", counter());
}

int main(void)
{
    unsigned long nonzero = 0;
    for (size_t i = 0; i < sizeof large_zeroed; i++)
        nonzero += large_zeroed[i] != 0;
    for (size_t i = 0; i < sizeof zeroed / sizeof *zeroed; i++)
        nonzero += zeroed[i] != 0;
    printf("nonzero bytes in zeroed areas: %lu, common %d\n", nonzero, common_symbol[2] == 0);
    for (int i = 0; i < 5; i++)
        printf("%d ", initialised[i]);
    function_pointer("\n%d %s %s %s\n", *pointer_to_data, pool[0], pool[1], pool[2]);
    for (int i = 0; i < 3; i++)
        printf("%a ", reals[i]);
    printf("\n%d %s %td\n", mixed.a, mixed.text, mixed.where - zeroed);
    for (int i = 0; i < order_count; i++)
        printf("constructor %d\n", order[i]);
    *pointer_to_data = 99;
    memset(large_zeroed + 4096, 0xab, 4096);
    printf("%d %d %02x %02x\n", initialised[3], counter(), large_zeroed[4095], large_zeroed[8191]);
    printf("aligned: %d %d\n", (uintptr_t)reals % 8 == 0, (uintptr_t)common_symbol % 8 == 0);
    return 0;
}
