/* Writes the steps of random programs (frame.h) in C: program SEED. Each has a kernel or a region with random expressions, loops and
 * branches:
 *
 *     kernel_simt    threads of multiprocessors: gathers, divergent branches and loops, atomics, the scratchpad
 *     kernel_stash   tiles in the stash, as arrays and as rows, which change, or become coherent or not
 *     kernel_loop    loops and stores that TOM offloads
 *     kernel_exchange  threads that tell each other values in such loops
 *     kernel_called  threads that call regions
 *     kernel_net     threads that call functions in whose place AxRAM has networks
 *     task           regions that NUCD's accelerators execute, on ranges that overlap
 *     host           the host: loops, networks, a batch
 *
 * No thread, task or host reads what another one may write at the same time, so that all machines have the same result. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/mix.h"
#include "tests/machine/stress/parts.h"

struct writer {
    uint64_t random;
    uint32_t reads, writes; /* of the step that is being written */
};

static uint32_t chance(struct writer *w, uint32_t below)
{
    return (uint32_t)((mix_next(&w->random) >> 32) * below >> 32);
}

static void put(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vprintf(format, args);
    va_end(args);
}

/* Elements of the parts with index `at`, as numbers; z has `rows` for each cell. */
static const char *const elements[] = {
    "p->cell[%s].a", "p->cell[%s].b", "p->cell[%s].c", "stress_bits(p->cell[%s].f)",
    "p->x[%s]",      "p->y[%s]",      "p->z[%s]"};
enum { PARTS = sizeof elements / sizeof *elements, WORDS = PARTS - 1 };

/* Writes an element of a part that the step does not write, at any index; or a name of `names`. */
static void leaf(struct writer *w, const char *names)
{
    char index[64];
    static const char *const indices[] = {"i", "p->order[i]", "(i + %u) & p->mask", "(i * %u) & p->mask",
                                          "i ^ (p->mask & %u)"};
    const uint32_t part = chance(w, PARTS), kind = chance(w, 4);
    if (kind == 0) {
        put("%uU", (unsigned)(mix_next(&w->random) >> 32));
    } else if (kind == 1 || w->writes >> part & 1) {
        put("%c", names[chance(w, (uint32_t)strlen(names))]);
    } else {
        const uint32_t which = chance(w, sizeof indices / sizeof *indices);
        (void)snprintf(index, sizeof index, indices[which], (unsigned)(1 + 2 * chance(w, 40)));
        put(elements[part], index);
        w->reads |= 1U << part;
    }
}

/* Writes an expression of type uint32_t. */
static void expression(struct writer *w, const char *names, int depth)
{
    static const char *const forms[] = {"+", "-", "*", "^", "&", "|", ">> (7 & ", "<< (3 & ", "? ", "T", "<"};
    const uint32_t form = chance(w, sizeof forms / sizeof *forms);
    if (depth == 0 || chance(w, 6) == 0) {
        leaf(w, names);
        return;
    }
    put(form == 9 ? "stress_turn(" : "(");
    expression(w, names, depth - 1);
    put(form == 9 ? ", " : " %s", forms[form]);
    expression(w, names, depth - 1);
    if (form == 8) {
        put(" : ");
        expression(w, names, depth - 1);
    }
    put(form == 6 || form == 7 ? "))" : ")");
}

/* Writes v = expression. */
static void assign(struct writer *w, const char *names, int depth)
{
    put("v = ");
    expression(w, names, depth);
    put(";\n");
}

/* Writes statements that change v, perhaps in branches and loops. */
static void statements(struct writer *w, int count)
{
    for (int n = 0; n < count; n++)
        switch (chance(w, 4)) {
        case 0:
            put("if (");
            expression(w, "vik", 1);
            put(" & %u) {\n", 1U << chance(w, 5));
            assign(w, "vik", 2);
            put("} else {\n");
            assign(w, "vi", 1);
            put("}\n");
            break;
        case 1:
            put("for (uint32_t j = 0; j < (");
            expression(w, "vi", 1);
            put(" & %u); j++) {\n", 1U + 2 * chance(w, 4));
            assign(w, "vij", 2);
            put("}\n");
            break;
        default: assign(w, "vik", 3);
        }
}

static void begin(struct writer *w, const char *kind, int number, uint32_t writes)
{
    w->reads = 0;
    w->writes = writes;
    put("\nstatic void %s_%d(struct stress *p)\n{\n", kind, number);
    put("const uint32_t i = (uint32_t)thread_id(), t = thread_x(), k = p->k;\n(void)i; (void)t; (void)k;\n");
}

/* Ends a kernel, and writes the step that launches it with an expression of bytes of scratchpad. */
static void end(const char *kind, int number, const char *bytes)
{
    put("}\n\nstatic long go_%s_%d(struct stress *p)\n{\nreturn STRESS_LAUNCH(%s_%d, p, %s);\n}\n", kind,
        number, kind, number, bytes);
}

/* Writes element i of the part that the step writes. */
static void store(uint32_t part, const char *value)
{
    if (part == STRESS_PART_F)
        put("p->cell[i].f = stress_float(%s);\n", value);
    else {
        put(elements[part], "i");
        put(" = %s;\n", value);
    }
}

static uint32_t written(struct writer *w)
{
    return chance(w, WORDS);
}

static void write_simt(struct writer *w, int number)
{
    const uint32_t part = written(w);
    const bool shared = chance(w, 3) == 0, atomic = chance(w, 3) == 0;
    begin(w, "kernel_simt", number, 1U << part | (atomic ? STRESS_S : 0));
    if (!shared)
        put("if (i >= p->count) return;\n");
    put("uint32_t v = ");
    put(elements[part], "i");
    put(";\n");
    statements(w, 1 + (int)chance(w, 3));
    if (shared) {
        put("uint32_t *s = simt_shared();\ns[t] = v;\nsimt_barrier();\nv += 3 * s[(t + %u) & 63];\n",
            (unsigned)chance(w, 64));
        put("v ^= s[(t * 5) & 63];\n");
    }
    if (atomic)
        put(chance(w, 2) ? "simt_atomic_max(&p->sum[(v >> 3) & 15], v);\n"
                         : "__atomic_fetch_add(&p->sum[(v >> 3) & 15], v, __ATOMIC_RELAXED);\n");
    store(part, "v");
    end("kernel_simt", number, "STRESS_TILE * 4");
}

/* A loop that loads much, and perhaps stores into columns of z. */
static void write_loop(struct writer *w, int number)
{
    static const char *const rounds[] = {"%u", "(uint32_t)(%u + (p->k & 7))", "(p->y[i] & 7) + %u"};
    const uint32_t part = chance(w, 2) ? (uint32_t)STRESS_PART_Z : written(w), which = chance(w, 3);
    begin(w, "kernel_loop", number, 1U << part);
    const bool own = (w->writes & STRESS_Y) != 0 && which == 2;
    put("uint32_t v = i;\nconst uint32_t mask = p->mask;\n(void)mask;\n");
    if (chance(w, 2))
        put("if (i >= p->count) return;\n");
    put("const uint32_t rounds = ");
    put(own ? "%u" : rounds[which], (unsigned)(4 + chance(w, 9)));
    w->reads |= which == 2 && !own ? STRESS_Y : 0;
    put(";\nfor (uint32_t j = 0; j < rounds; j++) {\n");
    assign(w, "vij", 2);
    put("v += ");
    expression(w, "ij", 2);
    put(" ^ ");
    leaf(w, "vj");
    put(";\n");
    if (part == STRESS_PART_Z)
        put("p->z[(j & 7) * p->n + i] = v;\n");
    put("}\n");
    if (part != STRESS_PART_Z)
        store(part, "v");
    end("kernel_loop", number, "0");
}

/* Threads of a block that tell each other values by memory, round by round, in loops that TOM offloads: what a cache keeps of the round
 * before is old. */
static void write_exchange(struct writer *w, int number)
{
    begin(w, "kernel_exchange", number, STRESS_Z | STRESS_X);
    const uint32_t step = 1 + 2 * chance(w, 20),
                   turn = chance(w, 8); /* the loads may begin in another stack */
    put("const uint32_t first = i - t, n = p->n;\nuint32_t v = i;\nuint32_t *z = p->z;\n");
    put("for (uint32_t round = 0; round < %u; round++) {\n", (unsigned)(2 + chance(w, 2)));
    put("for (uint32_t j = 0; j < 8; j++) {\nconst uint32_t old = v;\n");
    assign(w, "vij", 2);
    put("v = v * 5 + old;\nz[j * n + i] = v;\n}\nsimt_barrier();\n");
    put("for (uint32_t j = %u; j < %u; j++)\nv += z[(j & 7) * n + first + ((t + j * %u) & 63)] ^ z[(~j & 7) "
        "* n + first + "
        "((t ^ %u) & 63)];\nsimt_barrier();\n}\np->x[i] = v;\n",
        (unsigned)turn, (unsigned)turn + 8, (unsigned)step, (unsigned)chance(w, 64));
    end("kernel_exchange", number, "0");
}

static const char fields[] = "abc";

/* A tile of a field: read from neighbours, changed, and perhaps made coherent or not. */
static void write_field(struct writer *w, int number)
{
    const uint32_t field = chance(w, 3);
    const char name = fields[field];
    begin(w, "kernel_stash", number, 1U << field);
    const bool lost = chance(w, 3) == 0;
    put("struct cell *tile = p->cell + block_x() * STRESS_TILE;\n");
    put("struct croft_stash_map map = croft_stash_tile_of(0, tile, %c, .objects = STRESS_TILE, .noncoherent "
        "= "
        "%d);\n",
        name, lost);
    put("const uint64_t index = croft_stash_add(&map);\nuint32_t *s = croft_stash_pointer(&map, index), v = "
        "s[t];\n");
    put("simt_barrier();\n");
    for (uint32_t round = 0; round <= chance(w, 3); round++) {
        put("v += 5 * s[(t + %u) & 63];\n", (unsigned)chance(w, 64));
        statements(w, 1);
        put("simt_barrier();\nif (v & %u) s[t] = v;\nsimt_barrier();\n", (unsigned)(1U << chance(w, 4)));
    }
    if (chance(w, 2))
        put("map.coherent = %d;\ncroft_stash_change(index, &map);\ns[t] = v + %u;\n", lost,
            (unsigned)chance(w, 9));
    end("kernel_stash", number, "STRESS_TILE * 4");
}

/* Each block has a tile after the other, by changes of one map; results leave by another one. */
static void write_tiles(struct writer *w, int number)
{
    const uint32_t from = chance(w, 3), to = (from + 1 + chance(w, 2)) % 3;
    begin(w, "kernel_stash", number, 1U << to);
    w->reads |= 1U << from;
    put("const uint32_t blocks = p->n / STRESS_TILE, turn = %u;\n", (unsigned)(1 + chance(w, 4)));
    put("struct cell *tile = p->cell + block_x() * STRESS_TILE;\n");
    put("struct croft_stash_map in = croft_stash_tile_of(0, tile, %c, .objects = STRESS_TILE),\n",
        fields[from]);
    put("out = croft_stash_tile_of(STRESS_TILE * 4, tile, %c, .objects = STRESS_TILE);\n", fields[to]);
    put("const uint64_t index = croft_stash_add(&in);\nuint32_t v = 0;\n");
    put("const uint32_t *s = croft_stash_pointer(&in, index);\n");
    put("uint32_t *d = croft_stash_pointer(&out, croft_stash_add(&out));\n");
    put("for (uint32_t round = 0; round < turn; round++) {\nv = 3 * v + s[(t + %u) & 63];\n",
        (unsigned)chance(w, 64));
    put("in.global_base = (uintptr_t)&p->cell[(block_x() + round) %% blocks * STRESS_TILE].%c;\n",
        fields[from]);
    put("croft_stash_change(index, &in);\n}\n");
    statements(w, 1);
    put("d[t] = v;\n");
    end("kernel_stash", number, "2 * STRESS_TILE * 4");
}

/* Eight elements of each row of z, as a tile of rows. */
static void write_rows(struct writer *w, int number)
{
    begin(w, "kernel_stash", number, STRESS_Z);
    put("uint32_t v = i;\n");
    put("for (uint32_t part = 0; part < STRESS_TILE / 8; part++) {\n");
    put("uint32_t *tile = p->z + block_x() * STRESS_TILE + part * 8;\n");
    put("const struct croft_stash_map map = croft_stash_tile(part %% 2 * 256, tile, .objects = 8, .rows = "
        "STRESS_ROWS, .stride_size = p->n * 4);\n");
    put("if (part < 2) croft_stash_add(&map); else croft_stash_change(part %% 2, &map);\n");
    put("uint32_t *s = croft_stash_pointer(&map, part %% 2);\nv = s[t];\nsimt_barrier();\n");
    statements(w, 1);
    put("s[(t + %u) & 63] = v;\n}\n", (unsigned)chance(w, 64));
    end("kernel_stash", number, "2 * STRESS_TILE * 4");
}

/* Writes a region's loop over `count` elements of `to`, which reads `from`. */
static void region(struct writer *w, const char *name, int number, bool returns)
{
    put("\nCROFT_REGION%s%s_%d, CROFT_IN(const uint32_t *, from, (unsigned long)(sizes >> 16) * 4),\n",
        returns ? "_RETURNS(uint32_t, " : "(", name, number);
    put("CROFT_INOUT(uint32_t *, to, (unsigned long)(sizes & 65535) * 4), CROFT_VALUE(uint32_t, sizes), "
        "CROFT_VALUE(uint32_t, k))\n{\nconst uint32_t count = sizes & 65535, most = sizes >> 16;\nuint32_t "
        "sum = "
        "k;\n");
    put("for (uint32_t i = 0; i < count; i++) {\nuint32_t v = to[i];\n");
    put("const uint32_t g = from[(i * %u + k) %% most];\n(void)g;\n", (unsigned)(1 + chance(w, 5)));
    w->writes = ~0U; /* names alone */
    statements(w, 1 + (int)chance(w, 2));
    put("to[i] = v + g;\nsum ^= v;\n}\n%s;\n}\n", returns ? "return sum" : "(void)sum");
}

/* Tasks whose ranges share words and lines with those before and behind them, in program's order. */
static void write_task(struct writer *w, int number)
{
    static const char *const arrays[] = {"p->x", "p->y", "p->z"};
    static const uint32_t bits[] = {STRESS_X, STRESS_Y, STRESS_Z};
    const uint32_t from = chance(w, 3), to = chance(w, 3);
    const bool returns = chance(w, 3) == 0, loop = !returns && from != to && chance(w, 2),
               mixed = chance(w, 2);
    region(w, "task_region", number, returns);
    w->reads = bits[from];
    w->writes = bits[to];
    put("\nstatic long go_task_%d(struct stress *p)\n{\nuint32_t k = p->k;\n", number);
    if (loop)
        put("CROFT_FOR_TASKS(part, p->count, p->tasks, %u)\ntask_region_%d(%s, %s + part.first, "
            "(uint32_t)part.count | p->n << 16, k);\n",
            1U << chance(w, 6), number, arrays[from], arrays[to]);
    else {
        put("const uint32_t size = p->n / p->tasks;\nfor (uint32_t n = 0; n < p->tasks; n++) {\n%s",
            returns ? "k += " : "");
        put("task_region_%d(%s + (n ^ %u) %% p->tasks * size, %s + n * size, size | size << 16, k);\n",
            number, arrays[from], (unsigned)chance(w, 3), arrays[to]);
        if (mixed)
            put("%s[(n * 7 + k) & p->mask] += %s[n];\n", arrays[to], arrays[to]);
        put("}\n");
    }
    put("return 0;\n}\n");
}

/* Threads that call regions on tiles of their own. */
static void write_called(struct writer *w, int number)
{
    region(w, "called_region", number, false);
    begin(w, "kernel_called", number, STRESS_X);
    w->reads = STRESS_Y;
    const uint32_t step = 32U << chance(w, 2); /* lines of a task's own: tasks of threads are not ordered */
    put("if (t %% %u == %u) called_region_%d(p->y, p->x + i / %u * %u, %u | p->n << 16, k);\n",
        (unsigned)step, (unsigned)chance(w, step), number, (unsigned)step, (unsigned)step, (unsigned)step);
    end("kernel_called", number, "0");
}

/* Threads that call a network, perhaps not all of a warp, and again with its results. */
static void write_net(struct writer *w, int number)
{
    const bool both = chance(w, 2), direct = chance(w, 2);
    begin(w, "kernel_net", number, STRESS_F);
    put("float in[5], out[2] = {0};\nuint32_t v = i;\nif (i >= p->count) return;\n");
    statements(w, 1);
    put("for (int j = 0; j < 5; j++) in[j] = stress_float(v >> (5 * j));\n");
    if (chance(w, 2))
        put("if (v & %u) ", 1U << chance(w, 4));
    put("turn%s(in, out);\n", direct ? "_by_thread" : "");
    if (both)
        put("in[4] = out[1];\nif (v & %u) blend%s(in, out);\n", 1U << chance(w, 4),
            direct ? "_by_thread" : "");
    if (chance(w, 2))
        put("for (uint32_t j = v & 3; j > 0; j--) {\nin[j & 1] = out[0];\nturn%s(in, out);\n}\n",
            direct ? "_by_thread" : "");
    put("p->cell[i].f = out[0];\n");
    end("kernel_net", number, "0");
}

static void write_batch(struct writer *w, int number)
{
    (void)w;
    put("\nstruct batch_%d { struct croft_batch batch; uint32_t count; };\n", number);
    put("static void batch_run_%d(struct batch_%d *b)\n{\nif (thread_id() < b->count) turn_run(&b->batch, "
        "thread_id());\n}\n",
        number, number);
    w->reads = STRESS_A | STRESS_B;
    w->writes = STRESS_F;
    put("\nstatic long go_host_%d(struct stress *p)\n{\nstatic struct batch_%d b;\nfloat out[2];\nb.count = "
        "p->count;\n",
        number, number);
    put("if (turn_batch(&b.batch, b.count) != 0) return -1;\nfor (uint32_t i = 0; i < b.count; i++)\n");
    put("turn_put(&b.batch, i, (float[]){stress_float(p->cell[i].a), stress_float(p->cell[i].b)});\n");
    put("const long number = simt_launch(batch_run_%d, &b, simt_dim((b.count + 63) / 64), simt_dim(64));\n",
        number);
    put("if (number < 0 || simt_wait(number) != 0) return -1;\nfor (uint32_t i = 0; i < b.count; i++) {\n");
    put("turn_get(&b.batch, i, out);\np->cell[i].f = out[%u];\n}\nturn_free(&b.batch);\nreturn 0;\n}\n",
        (unsigned)chance(w, 2));
}

static void write_host(struct writer *w, int number)
{
    const uint32_t part = chance(w, PARTS);
    const bool net = part == STRESS_PART_F && chance(w, 2);
    if (chance(w, 3) == 0) {
        write_batch(w, number);
        return;
    }
    w->reads = 0;
    w->writes = 1U << part;
    put("\nstatic long go_host_%d(struct stress *p)\n{\nconst uint32_t k = p->k;\n(void)k;\n", number);
    put("for (uint32_t i = 0; i < p->count; i++) {\nuint32_t v = i;\n");
    statements(w, 1);
    if (net)
        put("float in[5] = {stress_float(v), 1, stress_float(v >> 8)}, out[2];\nblend(in, "
            "out);\np->cell[i].f = "
            "out[0];\n");
    else
        store(part, "v");
    put("}\nreturn 0;\n}\n");
}

static void write_stash(struct writer *w, int number)
{
    switch (chance(w, 3)) {
    case 0: write_field(w, number); break;
    case 1: write_tiles(w, number); break;
    default: write_rows(w, number);
    }
}

static const struct {
    const char *name;
    int count;
    void (*write)(struct writer *w, int number);
} kinds[] = {
    {"kernel_simt", 4, write_simt},
    {"kernel_loop", 4, write_loop},
    {"kernel_exchange", 3, write_exchange},
    {"kernel_stash", 5, write_stash},
    {"kernel_called", 1, write_called},
    {"kernel_net", 3, write_net},
    {"task", 5, write_task},
    {"host", 3, write_host},
};

int main(int argc, char **argv)
{
    char table[8192] = "";
    size_t length = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: %s SEED\n", argv[0]);
        return 2;
    }
    struct writer w = {.random = strtoull(argv[1], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15)};
    put("/* Steps of seed %s. */\n#include \"frame.h\"\n", argv[1]);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (int i = 0; i < kinds[kind].count; i++) {
            kinds[kind].write(&w, i);
            length += (size_t)snprintf(table + length, sizeof table - length,
                                       "{\"%s %d\", %u, %u, go_%s_%d},\n", kinds[kind].name, i,
                                       (unsigned)w.reads, (unsigned)w.writes, kinds[kind].name, i);
        }
    put("\nstatic const struct stress_step stress_steps[] = {\n%s};\n", table);
    return 0;
}
