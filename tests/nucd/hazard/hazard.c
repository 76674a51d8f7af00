/* The generator of tests/nucd/hazard/hazard.sh: hazard SEED BODIES [--faults] [--only BODY[:PIECE[,PIECE...]]]
 * writes assembler for BODIES random bodies to standard output. A body depends only on SEED and its number.
 * --faults: in each odd body, a region ends the program. --only: the other bodies are empty, and this one
 * lacks the given pieces. */
#include "tests/nucd/hazard/hazard.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/mix.h"

uint32_t hazard_random(struct hazard *h, uint32_t below)
{
    return (uint32_t)((mix_next(&h->random) >> 32) * below >> 32);
}

bool hazard_once(struct hazard *h, uint32_t in)
{
    return hazard_random(h, in) == 0;
}

static void write_line(struct hazard *h, const char *format, va_list args)
{
    (void)fputc('\t', h->out);
    (void)vfprintf(h->out, format, args);
    (void)fputc('\n', h->out);
}

void hazard_code(struct hazard *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_line(h, format, args);
    va_end(args);
    h->bytes += 4;
}

void hazard_short(struct hazard *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("\t.option rvc\n", h->out);
    write_line(h, format, args);
    (void)fputs("\t.option norvc\n", h->out);
    va_end(args);
    h->bytes += 2;
}

void hazard_line(struct hazard *h, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(h->out, format, args);
    (void)fputc('\n', h->out);
    va_end(args);
}

const char *hazard_reg(unsigned number)
{
    static const char *const names[32] = {
        "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
        "a6",   "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    return names[number];
}

/* The host's registers a2-a7 and s2-s10 */
unsigned hazard_host_reg(struct hazard *h)
{
    return 12 + hazard_random(h, 15);
}

const char *hazard_host_float(struct hazard *h)
{
    static const char *const names[] = {"fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7"};
    return names[hazard_random(h, 8)];
}

int hazard_offset(struct hazard *h, unsigned size, unsigned align)
{
    unsigned offset = hazard_random(h, h->spread - size + 1) / align * align;
    return (int)offset - (int)h->spread / 2;
}

/* The command line. */
struct request {
    uint64_t seed;
    unsigned bodies, only; /* only: UINT32_MAX: all */
    uint64_t omit;         /* set of pieces that the only body lacks */
    bool faults;
};

static void body(struct hazard *h, const struct request *r, unsigned number)
{
    static const unsigned spreads[] = {256, 768, 4096};
    const uint64_t base = mix(r->seed * UINT64_C(0xd1342543de82ef95) + number);
    h->body = number;
    h->random = base;
    h->label = 0;
    h->literal = 0;
    h->spread = spreads[hazard_random(h, 3)];
    h->faults = false;
    unsigned pieces = 4 + hazard_random(h, HAZARD_PIECES - 3), tasks = 2 + hazard_random(h, 5);
    unsigned faulty = hazard_random(h, pieces);
    hazard_line(h, "\t.balign 4\nbody_%u:", number);
    for (unsigned piece = 0; piece < pieces; piece++) {
        h->random = mix(base + piece + 1);
        h->label = 100 * piece;
        h->faults = r->faults && number % 2 && piece == faulty;
        if (number == r->only && r->omit >> piece & 1)
            continue;
        hazard_line(h, "# piece %u", piece);
        if (h->faults)
            hazard_output(h);
        if (h->faults || hazard_random(h, 8) < tasks)
            hazard_task_piece(h);
        else
            hazard_host_piece(h);
    }
    hazard_line(h, "\ttail hazard_done");
}

static void program(struct hazard *h, const struct request *r)
{
    hazard_line(h, "\t.option norvc\n\t.option norelax\n\t.text");
    for (unsigned i = 0; i < r->bodies; i++)
        body(h, r, i);
    hazard_line(h,
                "\t.section .rodata\n\t.balign 8\n\t.globl hazard_bodies, hazard_bodies_end\nhazard_bodies:");
    for (unsigned i = 0; i < r->bodies; i++)
        hazard_line(h, "\t.dword body_%u", i);
    hazard_line(h, "hazard_bodies_end:");
}

/* Reads BODY[:PIECE[,PIECE...]]. */
static bool parse_only(struct request *r, char *text)
{
    char *end;
    r->only = (unsigned)strtoul(text, &end, 10);
    while (*end == ':' || *end == ',') {
        unsigned long piece = strtoul(end + 1, &end, 10);
        if (piece >= 64)
            return false;
        r->omit |= UINT64_C(1) << piece;
    }
    return *end == '\0';
}

int main(int argc, char **argv)
{
    struct request r = {.only = UINT32_MAX};
    bool good = argc >= 3;
    if (good) {
        r.seed = strtoull(argv[1], NULL, 10);
        r.bodies = (unsigned)strtoul(argv[2], NULL, 10);
    }
    for (int i = 3; i < argc && good; i++) {
        if (strcmp(argv[i], "--faults") == 0)
            r.faults = true;
        else
            good = strcmp(argv[i], "--only") == 0 && i + 1 < argc && parse_only(&r, argv[++i]);
    }
    if (!good || r.bodies < 1) {
        fprintf(stderr, "usage: hazard SEED BODIES [--faults] [--only BODY[:PIECE[,PIECE...]]]\n");
        return 2;
    }
    struct hazard h = {.out = stdout};
    program(&h, &r);
    return fflush(stdout) == EOF;
}
