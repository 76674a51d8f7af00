/* Prints a random program of nests of loops: nests_random SEED COUNT [inner|columns]. inner: innermost loops store along a row; columns: rounds
 * store to columns, or to the same places. Bounds depend on arguments and on outer counters, steps go up
 * and down, arrays are parts of one array that may overlap. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long state;

static unsigned draw(unsigned n)
{
    state = state * 6364136223846793005UL + 1442695040888963407UL;
    return (unsigned)(state >> 33) % n;
}

/* Prints the head of a loop; outer: the counter around it, or 0. */
static void loop(int depth, char counter, char outer)
{
    static const char *const limits[] = {"n", "m", "20", "9"};
    const char *type = draw(3) ? "long" : "int", *limit = limits[draw(4)];
    unsigned kind = draw(outer ? 6 : 3);
    printf("%*sfor (%s %c = ", 4 * depth, "", type, counter);
    if (kind == 0)
        printf("%s - 1; %c >= %u; %c--)\n", limit, counter, draw(3), counter);
    else if (kind < 3)
        printf("%u; %c < %s; %c += %u)\n", draw(3), counter, limit, counter, 1 + draw(8) / 7);
    else if (kind == 3)
        printf("0; %c <= %c; %c++)\n", counter, outer, counter);
    else if (kind == 4)
        printf("%c; %c < %s; %c++)\n", outer, counter, limit, counter);
    else
        printf("0; %c < %c; %c++)\n", counter, outer, counter);
}

static void element(const char *array, int depth, int store)
{
    static const char *const pairs[] = {"[i][j]", "[i][j]", "[i][j + 1]", "[i + 1][j]",
                                        "[j][i]", "[i][0]", "[3][j]"};
    static const char *const deep[] = {"[i][k]", "[k][j]", "[j][k]", "[i][j]", "[k][i]"};
    printf("%s%s", array,
           store                  ? pairs[draw(12) / 6 * draw(4)]
           : depth > 2 && draw(2) ? deep[draw(5)]
                                  : pairs[draw(7)]);
}

static void nest(unsigned number)
{
    int depth = 2 + (int)draw(2);
    printf("__attribute__((noipa)) static void nest%u(double (*a)[W], double (*b)[W], double (*c)[W], long "
           "n, long m)\n{\n",
           number);
    loop(1, 'i', 0);
    loop(2, 'j', 'i');
    if (depth > 2)
        loop(3, 'k', "ij"[draw(2)]);
    printf("%*s", 4 * depth + 4, "");
    element("c", depth, 1);
    printf(draw(2) ? " += " : " = ");
    element(draw(3) ? "a" : "c", depth, 0);
    printf(draw(2) ? " * 0.5 + " : " - 0.25 * ");
    element("b", depth, 0);
    printf(";\n}\n");
}

/* Prints a nest whose innermost loop stores along a row, and may load around what it stores. */
static void update(unsigned number)
{
    static const char *const loads[] = {"[i][k]", "[i][k + 1]", "[i][k + 2]", "[i][j]",
                                        "[j][k]", "[k][j]",     "[i + 1][k]", "[i][k + 3]"};
    static const char *const operators[] = {"+=", "=", "-="};
    printf("__attribute__((noipa)) static void nest%u(double (*a)[W], double (*b)[W], double (*c)[W], long "
           "n, long m)\n{\n",
           number);
    loop(1, 'i', 0);
    loop(2, 'j', 'i');
    loop(3, 'k', "ij"[draw(2)]);
    printf("                c[i][k + %u] %s ", draw(3) / 2, operators[draw(3)]);
    for (unsigned i = 1 + draw(3); i > 0; i--)
        printf("%c%s * %u.25 + ", "abc"[draw(3)], loads[draw(8)], draw(2));
    printf("%c%s;\n}\n", "ab"[draw(2)], loads[draw(8)]);
}

/* Prints a sum of up to three products of elements; v and w are vectors. */
static void products(void)
{
    static const char *const elements[] = {"a[i][j]", "a[j][i]", "b[j][i]", "b[i][j]",
                                           "c[j][i]", "c[i][j]", "v[i]",    "v[j]",
                                           "w[i]",    "w[j]",    "b[3][i]", "a[j + 1][i]"};
    for (unsigned i = 1 + draw(3); i > 0; i--)
        printf("%s * %s * 0.%u + ", elements[draw(12)], elements[draw(12)], 1 + draw(9));
    printf("%u", draw(3));
}

/* Prints a nest whose rounds store to columns or to vectors, as a whole or an element each. */
static void columns(unsigned number)
{
    static const char *const singles[] = {"v[i]", "w[i]", "c[3][i]", "c[i][i]", "b[i][3]", "c[i][m]"};
    static const char *const places[] = {"v[j]", "c[j][i]", "c[j + 1][i]", "w[j]", "c[i][j]", "b[j][i]"};
    static const char *const operators[] = {"=", "+=", "+=", "-="};
    printf("__attribute__((noipa)) static void nest%u(double (*a)[W], double (*b)[W], double (*c)[W], long "
           "n, long m)\n{\n    double *v = %s, *w = %s;\n",
           number, draw(4) ? "more" : "c[9]", draw(4) ? "more + 256" : "more + 8");
    loop(1, 'i', 0);
    printf("    {\n        double sum = %u;\n", draw(2));
    if (draw(2))
        printf("        %s = 0;\n", singles[draw(6)]);
    for (unsigned i = 1 + draw(2); i > 0; i--) {
        loop(2, 'j', draw(6) ? 0 : 'i');
        const char *place = draw(3) ? places[draw(6)] : singles[draw(6)];
        printf("        {\n");
        if (draw(2)) {
            printf("            sum += ");
            products();
            printf(";\n");
        }
        printf("            %s %s ", place, operators[draw(4)]);
        products();
        printf("%s;\n        }\n", draw(6) ? "" : " + sum");
    }
    if (draw(2))
        printf("        %s %s sum;\n", singles[draw(6)], operators[draw(4)]);
    printf("    }\n}\n");
}

/* Prints a nest over planes of several arrays, with more addresses than a few registers hold. */
static void planes(unsigned number)
{
    printf(
        "__attribute__((noipa)) static void nest%u(double (*a)[W], double (*b)[W], double (*c)[W], long "
        "n, long m)\n{\n    double (*x)[6][W] = (void *)a, (*y)[6][W] = (void *)b, (*z)[6][W] = (void *)c;\n"
        "    for (long i = 1; i < n / 2; i++)\n        for (long j = 1; j < 5; j++)\n"
        "            for (long k = 1; k < m; k++)\n                z[i][j][k] = ",
        number);
    for (unsigned i = 4 + draw(6); i > 0; i--)
        printf("%c[i %+d][j %+d][k %+d] * %u.25 + ", "xyz"[draw(16) / 7], (int)draw(3) - 1, (int)draw(3) - 1,
               (int)draw(3) - 1, draw(3));
    printf("%u;\n}\n", draw(9));
}

int main(int argc, char **argv)
{
    unsigned count = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    printf("#include <stdio.h>\nenum { W = %u, ROOM = 6 * 40 * W };\nstatic _Alignas(64) double data[ROOM], "
           "more[512];\n",
           32 + draw(17));
    for (unsigned i = 0; i < count; i++)
        if (argc > 3 && argv[3][0] == 'c')
            columns(i);
        else if (argc > 3)
            update(i);
        else if (i % 5 == 4)
            planes(i);
        else
            nest(i);
    printf("int main(void)\n{\n    for (int i = 0; i < ROOM; i++)\n        data[i] = i %% 97 / 8.0;\n");
    for (unsigned i = 0; i < 3 * count; i++) {
        static const char *const places[] = {"data + 40 * W", "data + 80 * W", "data + 41 * W",
                                             "data + 40 * W + 3", "data + 45 * W"};
        printf("    nest%u((void *)(data), (void *)(%s), (void *)(%s), %u, %u);\n", i / 3, places[draw(5)],
               i % 3 == 2 ? places[draw(5)] : "data + 120 * W - 64", draw(8) ? 16 + draw(15) : draw(4),
               3 + draw(27));
        if (i % 3 == 2)
            printf("    double sum%u = 0;\n    for (int i = 0; i < 512; i++) {\n        data[i] += more[i];\n"
                   "        more[i] = i %% 13;\n    }\n    for (int i = 0; i < ROOM; i++) {\n        sum%u "
                   "+= data[i] * "
                   "(i %% 31);\n"
                   "        data[i] = data[i] > 1e6 || data[i] < -1e6 ? i %% 89 : data[i];\n    }\n    "
                   "printf(\"%%.17g\\n\", sum%u);\n",
                   i, i, i);
    }
    printf("    return 0;\n}\n");
    return 0;
}
