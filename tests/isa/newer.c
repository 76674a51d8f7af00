/* Uses Zfh, Zbc and Zicbop in a loop, with loads and stores of halves, and prints a checksum and the accrued flags. GCC 12 has no
 * type for halves on RISC-V, so they are in assembly. */
#include <stdio.h>

static unsigned random_bits(unsigned *seed)
{
    *seed = *seed * 1103515245 + 12345;
    return *seed >> 16;
}

/* Returns the bits of sqrt((a * b + c) / b), the root rounded up. */
static unsigned long compute(unsigned long a, unsigned long b, unsigned long c)
{
    unsigned long result;
    __asm__ volatile(
        "fmv.h.x ft0, %1\n\tfmv.h.x ft1, %2\n\tfmv.h.x ft2, %3\n\t"
        "fmadd.h ft3, ft0, ft1, ft2\n\tfdiv.h ft3, ft3, ft1\n\tfsqrt.h ft3, ft3, rup\n\tfmv.x.h %0, ft3"
        : "=r"(result)
        : "r"(a), "r"(b), "r"(c)
        : "ft0", "ft1", "ft2", "ft3");
    return result;
}

/* Adds the half `bits` to *at and returns the sum's bits as a float. */
static unsigned long add(unsigned short *at, unsigned long bits)
{
    unsigned long result;
    __asm__ volatile(
        "prefetch.r 0(%1)\n\tflh ft0, 0(%1)\n\tfmv.h.x ft1, %2\n\tfadd.h ft0, ft0, ft1\n\tfsh ft0, 0(%1)\n\t"
        "fcvt.s.h ft0, ft0\n\tfmv.x.w %0, ft0"
        : "=r"(result)
        : "r"(at), "r"(bits)
        : "ft0", "ft1", "memory");
    return result;
}

static unsigned long multiply(unsigned long a, unsigned long b)
{
    unsigned long low, high;
    __asm__("clmul %0, %2, %3\n\tclmulh %1, %2, %3" : "=&r"(low), "=&r"(high) : "r"(a), "r"(b));
    return low ^ high;
}

int main(void)
{
    static unsigned short sums[256];
    unsigned seed = 1;
    unsigned long checksum = 0, flags;
    for (int i = 0; i < 10000; i++) {
        unsigned long a = random_bits(&seed), b = random_bits(&seed);
        unsigned long half = compute(a, b, random_bits(&seed));
        checksum = checksum * 31 + half + add(&sums[i % 256], half);
        checksum ^= multiply(checksum, checksum >> 7);
    }
    __asm__ volatile("frflags %0" : "=r"(flags));
    printf("%016lx %02lx\n", checksum, flags);
    return 0;
}
