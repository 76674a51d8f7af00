/* Compares a program's nucds with its execution. offloads PROGRAM [ARGS...] runs a program of the `user`
 * environment, forms a task from each nucd, and follows its region to the end. It checks that operands are
 * well-formed, that the region ends, and that the region accesses only the declared ranges, its own stack and
 * read-only data. Otherwise it prints the fault and its place, and exits with status 1. Tasks in one region
 * of interest must not block each other. At the end it prints the numbers of tasks, of words and lines of
 * packets, and of tasks that would wait for older ones. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/hart/stream.h"
#include "emu/nucd/depend/depend.h"
#include "emu/nucd/packet.h"
#include "emu/nucd/region.h"
#include "tests/env/user_fixture.h"

enum { MESSAGES = 10 };

struct follower {
    struct hart *hart;
    struct nucd_depend depend;
    struct nucd_task task;
    struct nucd_region region;
    bool inside;          /* executing a region */
    uint64_t stack, data; /* sp at the region's begin; first writable address */
    unsigned wrong;
    uint64_t tasks, blocked, words, lines, instructions;
};

static void wrong(struct follower *f, uint64_t pc, const char *what, uint64_t address)
{
    if (f->wrong++ < MESSAGES)
        printf("pc 0x%" PRIx64 ": %s 0x%" PRIx64 "\n", pc, what, address);
}

static uint64_t read_register(const void *context, unsigned reg)
{
    return ((const struct hart *)context)->x[reg];
}

static bool is_memory(const void *context, uint64_t address)
{
    (void)context;
    return address - USER_FIXTURE_BASE < USER_FIXTURE_SIZE;
}

/* Handles a nucd, before it is executed. */
static void begin(struct follower *f, const struct insn *insn)
{
    static const uint8_t capabilities[] = {0};
    const struct nucd_operands operands = {.pc = f->hart->pc,
                                           .xn = insn->rs1,
                                           .xd = insn->rs2,
                                           .frm = f->hart->frm,
                                           .read = read_register,
                                           .context = f->hart};
    const struct nucd_limits limits = {.capabilities = capabilities, .accelerators = 1, .memory = is_memory};
    enum nucd_cause cause = nucd_packet_task(&operands, &limits, &f->task);
    if (cause == NUCD_CAUSE_SIGNATURE)
        return; /* a mark around calls, or another slt x0 */
    if (cause != NUCD_WELL_FORMED) {
        wrong(f, operands.pc, nucd_cause_text(cause), operands.pc);
        return;
    }
    f->inside = true;
    f->stack = f->hart->x[2];
    f->region = (struct nucd_region){.end = f->task.end};
    unsigned words = nucd_packet_words(&f->task);
    f->tasks++;
    f->words += words;
    f->lines += nucd_words_lines(words);
    int slot = nucd_depend_add(&f->depend, &f->task, NULL);
    if (slot != NUCD_NO_TASK)
        f->blocked += nucd_depend_blocked(&f->depend, slot);
}

static void check_access(struct follower *f, const struct stream_op *op, uint64_t address)
{
    uint64_t last = address + op->size - 1;
    if (address < f->stack && address >= f->stack - USER_FIXTURE_STACK)
        return;
    if (op->flags & STREAM_STORE && !nucd_ranges_touch(&f->task.memory.out, address, last))
        wrong(f, op->pc, "store outside of the outputs, to", address);
    if (op->flags & STREAM_LOAD && address >= f->data &&
        !nucd_ranges_touch(&f->task.memory.in, address, last) &&
        !nucd_ranges_touch(&f->task.memory.out, address, last))
        wrong(f, op->pc, "load outside of all ranges, from", address);
}

static void follow(struct follower *f, const struct stream_entry *entry, uint64_t next_pc)
{
    if (!f->inside)
        return;
    const struct stream_op *op = entry->op;
    f->instructions++;
    if (op->flags & (STREAM_LOAD | STREAM_STORE))
        check_access(f, op, entry->address);
    nucd_region_follow(&f->region, op, entry->address);
    f->inside = !nucd_region_ends(&f->region, next_pc);
}

static void consume(struct follower *f, const struct stream *stream)
{
    for (uint32_t i = 0; i < stream->count; i++)
        follow(f, &stream->entries[i],
               i + 1 < stream->count ? stream->entries[i + 1].op->pc : stream->next_pc);
}

/* Executes an instruction outside of batches. Marker instructions clear the dependency table; until then,
 * tasks may all be in flight. */
static bool step(struct follower *f, struct stream *stream, struct user *user)
{
    struct insn insn;
    bool first = step_fetch(f->hart, f->hart->pc, &insn) && insn.id == INSN_nucd && !f->inside;
    if (first)
        begin(f, &insn);
    struct step_report report;
    if (stream_step(stream, &report) == HART_STOP_TRAP)
        return user_serve(user);
    if (report.retired && report.effects.marker)
        nucd_depend_init(&f->depend, NUCD_TASKS, NUCD_LINE);
    if (report.retired && !first)
        follow(f, &stream->step_entry, f->hart->pc);
    return true;
}

static int run(struct user *user, struct follower *f)
{
    struct error err;
    struct stream stream;
    if (!stream_init(&stream, f->hart, &err)) {
        fprintf(stderr, "offloads: %s\n", err.text);
        return 1;
    }
    nucd_depend_init(&f->depend, NUCD_TASKS, NUCD_LINE);
    f->data = user->write_first;
    bool good = true;
    while (good && !user->ended) {
        enum stream_end end = stream_run(&stream, STREAM_BATCH);
        consume(f, &stream);
        if (end != STREAM_MORE)
            good = step(f, &stream, user);
    }
    stream_free(&stream);
    if (f->inside)
        wrong(f, f->task.pc, "the region's end was never reached:", f->task.end);
    printf("%" PRIu64 " tasks, %" PRIu64 " words and %" PRIu64 " lines of packets, %" PRIu64
           " instructions in regions, %" PRIu64 " tasks wait, %u wrong\n",
           f->tasks, f->words, f->lines, f->instructions, f->blocked, f->wrong);
    return good && user->status == 0 && f->tasks > 0 && f->wrong == 0 && f->blocked == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct user_fixture f;
    int status = user_fixture_init(&f, "offloads", argc, argv);
    if (status != 0)
        return status;
    struct follower follower = {.hart = &f.hart};
    status = run(f.user, &follower);
    user_fixture_free(&f);
    return status;
}
