/* Random programs whose regions call the C library and take locks: library_random THREADS SEED COUNT [quiet]. Each of COUNT
 * programs, numbered from SEED on, is a sequence of host operations and regions; it prints a digest. THREADS > 1 runs that
 * many programs at the same time, on as many hosts if there are, which share heap, locks and files' tables. quiet: no
 * operation makes a system call in a region, as the driver requires. The output depends on the arguments alone. */
#include <croft/nucd.h>
#include <croft/threads.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, BLOCKS = 8, CELLS = 64, OPERATIONS = 14, TEXT = 4096, RESERVE = 96 << 10 };

struct block {
    char *bytes;
    long size;
};

struct program {
    _Alignas(64) long cells[BLOCKS][CELLS];
    struct block blocks[BLOCKS];
    uint64_t random, digest, seed;
    FILE *out;
    char name[24], text[TEXT];
    bool quiet;
};

static struct program programs[THREADS];
static atomic_uint lock;
static long shared; /* guarded by `lock` */

static uint32_t draw(struct program *p, uint32_t below)
{
    p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(p->random >> 33) % below;
}

static void note(struct program *p, long value)
{
    p->digest = (p->digest ^ (uint64_t)value) * UINT64_C(0x9e3779b97f4a7c15);
    p->digest ^= p->digest >> 29;
}

static long sum(const char *bytes, long size)
{
    long all = 0;
    for (long i = 0; i < size; i++)
        all = all * 3 + bytes[i];
    return all;
}

CROFT_REGION(say, CROFT_VALUE(FILE *, out), CROFT_VALUE(long, i), CROFT_VALUE(double, x))
{
    fprintf(out, "region %ld %g %s\n", i, x * 1.5, i % 2 ? "odd" : "even");
    if (i % 5 == 0)
        fflush(out);
}

CROFT_REGION(put, CROFT_VALUE(FILE *, out), CROFT_VALUE(const char *, text))
{
    fputs(text, out);
    putc('.', out);
}

CROFT_REGION_RETURNS(char *, make, CROFT_VALUE(long, size))
{
    char *bytes = malloc((size_t)size);
    for (long i = 0; bytes && i < size; i++)
        bytes[i] = (char)(size + i);
    return bytes;
}

CROFT_REGION_RETURNS(char *, grow, CROFT_VALUE(char *, bytes), CROFT_VALUE(long, size),
                     CROFT_VALUE(long, more))
{
    char *moved = realloc(bytes, (size_t)(size + more));
    for (long i = size; moved && i < size + more; i++)
        moved[i] = (char)(more ^ i);
    return moved;
}

/* Reads what the host has stored, without declaring it, behind an order point. */
CROFT_REGION_RETURNS(long, drop, CROFT_VALUE(char *, bytes), CROFT_VALUE(long, size))
{
    croft_nucd_order();
    long all = sum(bytes, size);
    free(bytes);
    return all;
}

CROFT_REGION_RETURNS(long, drop_declared, CROFT_INOUT(char *, bytes, size), CROFT_VALUE(long, size))
{
    long all = sum(bytes, size);
    free(bytes);
    return all;
}

CROFT_REGION_RETURNS(long, lines, CROFT_VALUE(const char *, name), CROFT_VALUE(long, k))
{
    FILE *file = fopen(name, k % 3 ? "a+" : "w+");
    char line[64];
    long all = 0;
    if (!file)
        return -errno;
    fprintf(file, "line %ld\n", k);
    rewind(file);
    while (fgets(line, sizeof line, file))
        all = all * 7 + (long)strlen(line);
    fclose(file);
    return all;
}

CROFT_REGION_RETURNS(long, fail, CROFT_VALUE(long, k))
{
    errno = 0;
    FILE *file = fopen("no such folder/file", "r");
    return file ? -1 : errno * 10 + k;
}

CROFT_REGION_RETURNS(long, next, CROFT_VALUE(long, k))
{
    return rand() % 1000 + k;
}

CROFT_REGION(add, CROFT_VALUE(long, n))
{
    croft_nucd_order();
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        continue;
    shared += n;
    atomic_store_explicit(&lock, 0, memory_order_release);
}

CROFT_REGION(hold, CROFT_VALUE(FILE *, out), CROFT_VALUE(long, n))
{
    fprintf(out, "held %ld", n);
    fputc('\n', out);
}

CROFT_REGION_RETURNS(double, parse, CROFT_VALUE(long, k))
{
    char text[32];
    snprintf(text, sizeof text, "%ld.%ld", k, k * 37 % 1000);
    return strtod(text, NULL) * 2;
}

CROFT_REGION(scale, CROFT_IN(const long *, from, CELLS * sizeof(long)),
             CROFT_OUT(long *, to, CELLS * sizeof(long)), CROFT_VALUE(long, factor))
{
    for (long i = 0; i < CELLS; i++)
        to[i] = from[i] * factor + i;
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

CROFT_REGION(sort, CROFT_INOUT(long *, cells, CELLS * sizeof(long)), CROFT_VALUE(long, limit))
{
    qsort(cells, (size_t)limit, sizeof *cells, compare);
}

static void heap(struct program *p, bool region)
{
    struct block *b = &p->blocks[draw(p, BLOCKS)];
    long size = 1 + draw(p, p->quiet ? 300 : draw(p, 8) ? 700 : 20000);
    if (!b->bytes) {
        b->bytes = region ? make(size) : memset(malloc((size_t)size), 'x', (size_t)size);
        b->size = size;
    } else if (draw(p, 3) == 0) {
        b->bytes =
            region ? grow(b->bytes, b->size, size % 200) : realloc(b->bytes, (size_t)(b->size + size % 200));
        if (!region)
            memset(b->bytes + b->size, 'y', (size_t)(size % 200));
        b->size += size % 200;
    } else {
        b->bytes[draw(p, (uint32_t)b->size)] = (char)draw(p, 128);
        long all = 0;
        if (region && draw(p, 2))
            all = drop(b->bytes, b->size);
        else if (region)
            all = drop_declared(b->bytes, b->size);
        else
            all = sum(b->bytes, b->size), free(b->bytes);
        b->bytes = NULL;
        note(p, all);
    }
}

static void print(struct program *p)
{
    static const char *const texts[] = {"a", "text of some length", "\n", "two\nlines\n"};
    switch (p->quiet ? 5 : draw(p, 5)) {
    case 0: say(p->out, draw(p, 100), draw(p, 1000) / 8.0); break;
    case 1: put(p->out, texts[draw(p, 4)]); break;
    case 2: fprintf(p->out, "host %u\n", draw(p, 100)); break;
    case 3: hold(p->out, draw(p, 100)); break;
    case 4: note(p, lines(p->name, draw(p, 9))); break;
    default: note(p, (long)parse(draw(p, 1000))); break;
    }
}

static void compute(struct program *p)
{
    long *from = p->cells[draw(p, BLOCKS)], *to = p->cells[draw(p, BLOCKS)];
    if (from == to || draw(p, 4) == 0)
        sort(from, 1 + draw(p, CELLS));
    else
        scale(from, to, draw(p, 9));
    if (draw(p, 3) == 0)
        note(p, to[draw(p, CELLS)]);
}

static void operate(struct program *p)
{
    switch (draw(p, 8)) {
    case 0: heap(p, false); break;
    case 1:
    case 2: heap(p, true); break;
    case 3:
    case 4: print(p); break;
    case 5: compute(p); break;
    case 6: add(1); break;
    default:
        if (draw(p, 2))
            note(p, next(draw(p, 10)));
        else if (draw(p, 2) && !p->quiet)
            note(p, fail(draw(p, 10)));
        else
            note(p, rand());
        break;
    }
}

static void run(void *argument)
{
    struct program *p = argument;
    p->random = p->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    p->digest = p->seed;
    srand((unsigned)p->seed);
    for (unsigned i = 0; i < BLOCKS; i++)
        for (unsigned k = 0; k < CELLS; k++)
            p->cells[i][k] = draw(p, 100);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        /* Several regions of one kind behind each other, so that they are under way at the same time. */
        uint64_t random = p->random;
        for (uint32_t repeat = draw(p, 4) ? 1 : 1 + draw(p, 6); repeat > 0; repeat--)
            operate(p);
        note(p, (long)(random >> 60));
    }
    for (unsigned i = 0; i < BLOCKS; i++) {
        if (p->blocks[i].bytes)
            note(p, sum(p->blocks[i].bytes, p->blocks[i].size));
        free(p->blocks[i].bytes);
        p->blocks[i].bytes = NULL;
        for (unsigned k = 0; k < CELLS; k++)
            note(p, p->cells[i][k]);
    }
}

/* A program that runs alone prints to standard output; of several, each to a file of its own. */
static void finish(struct program *p, bool alone)
{
    if (alone) {
        fflush(p->out);
    } else {
        rewind(p->out);
        size_t size = fread(p->text, 1, TEXT, p->out);
        note(p, sum(p->text, (long)size));
        fclose(p->out);
    }
    remove(p->name);
    printf("\nprogram %lu: %016lx\n", (unsigned long)p->seed, (unsigned long)p->digest);
}

static void start(struct program *p, unsigned number, uint64_t seed, bool alone)
{
    char name[24];
    p->seed = seed;
    snprintf(p->name, sizeof p->name, "lines%u.tmp", number);
    snprintf(name, sizeof name, "output%u.tmp", number);
    p->out = alone ? stdout : fopen(name, "w+");
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    unsigned threads = (unsigned)atoi(argv[1]);
    uint64_t seed = strtoul(argv[2], NULL, 10), end = seed + strtoul(argv[3], NULL, 10);
    struct croft_thread others[THREADS];
    bool quiet = argc > 4, started[THREADS] = {false};
    char *volatile reserve = malloc(RESERVE);
    free(reserve); /* small blocks then need no system call */
    if (threads < 1 || threads > THREADS)
        return 2;
    for (; seed < end; seed += threads) {
        long adds = shared;
        for (unsigned i = 0; i < threads; i++) {
            programs[i].quiet = quiet;
            start(&programs[i], i, seed + i, threads == 1);
        }
        for (unsigned i = 1; i < threads; i++)
            started[i] = croft_thread_start(&others[i], run, &programs[i]) == 0;
        run(&programs[0]);
        for (unsigned i = 1; i < threads; i++) {
            if (started[i])
                croft_thread_join(&others[i]);
            else
                run(&programs[i]);
        }
        for (unsigned i = 0; i < threads; i++)
            finish(&programs[i], threads == 1);
        printf("shared %ld\n", shared - adds);
    }
    for (unsigned i = 0; i < threads && threads > 1; i++) {
        char name[24];
        snprintf(name, sizeof name, "output%u.tmp", i);
        remove(name);
    }
    return 0;
}
