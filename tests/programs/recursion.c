/* Deep and wide recursion: Ackermann, Towers of Hanoi, permutations, mutual recursion, a deep stack. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned long calls;

static long ackermann(long m, long n)
{
    calls++;
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

static unsigned hanoi(int disks, int from, int to, int spare, unsigned hash)
{
    if (disks == 0)
        return hash;
    hash = hanoi(disks - 1, from, spare, to, hash);
    hash = hash * 31 + (unsigned)(disks * 9 + from * 3 + to);
    return hanoi(disks - 1, spare, to, from, hash);
}

static int is_odd(unsigned n);

static int is_even(unsigned n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}

static int is_odd(unsigned n)
{
    return n == 0 ? 0 : is_even(n - 1);
}

static int permute(char *text, int at, int printed)
{
    if (!text[at]) {
        if (printed % 37 == 0)
            printf("%4d %s\n", printed, text);
        return printed + 1;
    }
    for (int i = at; text[i]; i++) {
        char first = text[at];
        text[at] = text[i], text[i] = first;
        printed = permute(text, at + 1, printed);
        text[i] = text[at], text[at] = first;
    }
    return printed;
}

/* Each frame keeps a page alive that is checked on the way back. */
static unsigned deep(int depth)
{
    volatile unsigned char page[1024];
    memset((void *)page, depth & 0xff, sizeof page);
    unsigned below = depth ? deep(depth - 1) : 0;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof page; i += 64)
        sum += page[i];
    return below + sum;
}

static uint64_t partitions(int n, int largest)
{
    if (n == 0)
        return 1;
    uint64_t count = 0;
    for (int part = largest < n ? largest : n; part > 0; part--)
        count += partitions(n - part, part);
    return count;
}

int main(void)
{
    for (long m = 0; m < 4; m++)
        for (long n = 0; n < 6; n++) {
            calls = 0;
            long value = ackermann(m, n);
            printf("A(%ld, %ld) = %ld in %lu calls\n", m, n, value, calls);
        }
    for (int disks = 1; disks < 15; disks++)
        printf("hanoi %d: %08x\n", disks, hanoi(disks, 0, 2, 1, 0));
    for (unsigned n = 0; n < 10000; n = n * 3 + 1)
        printf("%u even %d odd %d\n", n, is_even(n), is_odd(n));
    char text[] = "croft!";
    printf("%d permutations\n", permute(text, 0, 0));
    for (int depth = 1; depth <= 4096; depth *= 8)
        printf("deep %d: %u\n", depth, deep(depth));
    for (int n = 5; n <= 40; n += 5)
        printf("partitions of %d: %llu\n", n, (unsigned long long)partitions(n, n));
    return 0;
}
