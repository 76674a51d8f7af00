/* Prints the initial stack and registers for run.sh, without a C library's start-up code. */
#include <stddef.h>

__asm__(
    ".globl _start\n_start:\n\tmv a1, sp\n\tmv a2, gp\n\tor a2, a2, tp\n\tor a2, a2, ra\n\tor a2, a2, s0\n"
    "\tandi sp, sp, -16\n\tcall report\n");

void report(unsigned long a0, const unsigned long *sp, unsigned long others);

static void print(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    register long a7 __asm__("a7") = 64;
    register long a0 __asm__("a0") = 1;
    register const char *a1 __asm__("a1") = text;
    register size_t a2 __asm__("a2") = length;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
}

static void print_number(const char *name, unsigned long value)
{
    char digits[20] = "0x";
    for (int i = 0; i < 16; i++)
        digits[2 + i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    digits[18] = '\n';
    digits[19] = 0;
    print(name);
    print(" ");
    print(digits);
}

void report(unsigned long a0, const unsigned long *sp, unsigned long others)
{
    extern char _start[];
    const unsigned long *word = sp;
    print_number("sp", (unsigned long)sp);
    print_number("misaligned", (unsigned long)sp & 15);
    print_number("registers", a0 | others);
    print_number("argc", *word++);
    for (; *word; word++) {
        print("argv ");
        print((const char *)*word);
        print("\n");
    }
    print_number("argv_end", (unsigned long)(word - sp));
    for (word++; *word; word++) {
        print("env ");
        print((const char *)*word);
        print("\n");
    }
    for (word++; *word; word += 2) {
        if (*word == 6)
            print_number("pagesize", word[1]);
        if (*word == 9)
            print_number("entry_off_by", word[1] - (unsigned long)_start);
        if (*word == 16)
            print_number("hwcap", word[1]);
        if (*word == 25)
            print_number("random", *(const unsigned char *)word[1]);
        if (*word == 31) {
            print("name ");
            print((const char *)word[1]);
            print("\n");
        }
    }
    register long a7 __asm__("a7") = 93;
    register long status __asm__("a0") = 0;
    __asm__ volatile("ecall" : : "r"(a7), "r"(status));
    for (;;)
        continue;
}
