/* Writes a C program of random loops over arrays: loops_random SEED LOOPS. The program prints a digest of all arrays and of what
 * the loops leave behind. Pointers may point into the same array, and loops may carry values, so that some loops must not
 * become tasks and others must not at run time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static unsigned below(unsigned limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(state >> 33) % limit;
}

static const char *const types[] = {"double",  "float",   "int64_t", "int32_t",
                                    "int16_t", "uint8_t", "uint32_t"};
static const char *const counters[] = {"long", "int", "unsigned", "size_t"};

/* Prints an operand that is read: of an array, a value, the counter. */
static void operand(int loop)
{
    switch (below(9)) {
    case 0: printf("(double)i"); break;
    case 1: printf("v"); break;
    case 2: printf("table[place[i] & 1023]"); break;
    case 3: printf("fixed[(i * 5) & 15]"); break;
    case 4: printf("r[%u * i + %u]", 1 + below(3), below(9)); break;
    case 5: printf("(i %% %u == 1 ? p[i] : %u)", 2 + below(3), below(7)); break;
    case 6: printf("u[%u]", below(40)); break;
    default: printf("%c[i + %u]", "pq"[below(2)], below(4)); break;
    }
    (void)loop;
}

static void statement(int loop)
{
    unsigned scale = below(4) ? 1 : 1 + below(3);
    switch (below(8)) {
    case 0:
        printf("        for (int j = 0; j < %u; j++)\n            w[%u * i + j] += p[i] + j;\n", 4u, 4u);
        break;
    case 1:
        printf("        double sum = 0;\n        for (int j = 0; j < %u; j++)\n            sum += r[3 * i + "
               "j] * v;\n"
               "        w[i] = sum;\n",
               2 + below(4));
        break;
    case 2:
        printf("        double sum = 0;\n        for (int j = place[i] & 63; j < (place[i + 1] & 63); j++)\n"
               "            sum += table[j];\n        w[i] = sum;\n");
        break;
    case 3:
        printf("        if (p[i] > %u)\n            w[%u * i] = ", below(100), scale);
        operand(loop);
        printf(";\n");
        break;
    case 4:
        if (below(3) == 0) {
            printf("        carried += p[i];\n");
            break;
        }
        /* fall through */
    default:
        printf("        w[%u * i + %u] %s ", scale, below(3), below(3) ? "=" : "+=");
        operand(loop);
        printf(" + ");
        operand(loop);
        printf(";\n");
        if (below(4) == 0) {
            printf("        u[i] = ");
            operand(loop);
            printf(";\n");
        }
        if (below(8) == 0)
            printf("        last = p[i];\n");
    }
}

static void head(const char *counter)
{
    unsigned step = below(3) ? 1 : 1 + below(4);
    switch (below(5)) {
    case 0: printf("    for (long i = n - 1; i >= %u; i -= %u) {\n", below(5), step); break;
    case 1:
        printf("    for (%s i = %u; i <= (%s)n - 1; i += %u) {\n", counter, below(5), counter, step);
        break;
    case 2: printf("    for (%s i = 0; i != (%s)n; i++) {\n", counter, counter); break;
    default: printf("    for (%s i = %u; i < (%s)n; i += %u) {\n", counter, below(5), counter, step); break;
    }
}

static void function(int loop)
{
    const char *w = types[below(7)], *p = types[below(7)], *q = types[below(7)];
    printf("static __attribute__((noinline)) double loop%d(long n, %s *w, const %s *p, const %s *q, const "
           "double *r, "
           "double *u, double v)\n{\n    double carried = 0, last = 0;\n",
           loop, w, p, q);
    head(counters[below(4)]);
    statement(loop);
    printf("    }\n    return carried + last;\n}\n\n");
}

int main(int argc, char **argv)
{
    int loops = argc > 2 ? atoi(argv[2]) : 20;
    state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    printf("#include <stdint.h>\n#include <stdio.h>\n#include <stddef.h>\n\n"
           "static _Alignas(64) char memory0[65536], memory1[65536], memory2[65536], memory3[65536], "
           "memory4[65536];\n"
           "static int32_t place[4200];\nstatic double table[1024];\nstatic const double fixed[16] = {3, 1, "
           "4, 1, 5, 9};\n\n");
    for (int loop = 0; loop < loops; loop++)
        function(loop);
    printf("static void fill(char *memory, unsigned seed)\n{\n    for (int i = 0; i < 65536 / 8; i++)\n"
           "        ((double *)memory)[i] = (double)((i * 7919u + seed) %% 1009) / 8;\n}\n\n"
           "int main(void)\n{\n    uint64_t digest = 14695981039346656037u;\n    double sum = 0;\n"
           "    fill(memory0, 1);\n    fill(memory1, 2);\n    fill(memory2, 3);\n    fill(memory3, 4);\n    "
           "fill(memory4, 5);\n"
           "    for (int i = 0; i < 4200; i++)\n        place[i] = (i * 31) %% 1777;\n"
           "    for (int i = 0; i < 1024; i++)\n        table[i] = i %% 13;\n");
    for (int loop = 0; loop < loops; loop++) {
        printf("    sum = sum / 2 + loop%d(%u, (void *)(", loop,
               below(4) ? 200 + below(1500) : 1 + below(200));
        printf("memory0 + %u), (void *)(", 8 * below(below(2) ? 1 : 20));
        printf("%s + %u), (void *)(", below(6) ? "memory1" : "memory0", 8 * below(20));
        printf("memory2 + %u), (void *)(", 8 * below(20));
        printf("%s), (void *)(%s), %u.5);\n", below(8) ? "memory3" : "memory0",
               below(8) ? "memory4" : "memory0", below(9));
    }
    printf("    const char *const all[] = {memory0, memory1, memory2, memory3, memory4};\n"
           "    for (int m = 0; m < 5; m++) {\n        for (int i = 0; i < 65536; i++)\n"
           "            digest = (digest ^ (unsigned char)all[m][i]) * 1099511628211u;\n"
           "        printf(\"%%d %%016lx\\n\", m, (unsigned long)digest);\n    }\n"
           "    printf(\"%%.17g\\n\", sum);\n}\n");
    return 0;
}
