/* --check nucd on a machine with a clock: what tasks may access, and messages about what they should not have. */
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>

#include "emu/machine/offload.h"
#include "emu/machine/timed_state.h"
#include "emu/sim/unit.h"

static void print_place(struct timed *timed, uint64_t pc)
{
    char text[SYMBOLS_TEXT];
    fprintf(stderr, "0x%" PRIx64 ", %s", pc, symbols_describe(timed->symbols, pc, text, sizeof text));
}

static void report(void *context, const struct footprint_finding *finding)
{
    struct timed *timed = context;
    const struct timed_core *core = &timed->cores[timed->hosts + finding->accel];
    char time[UNIT_TEXT];
    unit_format(UNIT_TIME, timed->queue.now, time);
    scheduler_begin_message(&timed->scheduler);
    fprintf(stderr,
            "croft: --check nucd: %s of %u bytes at 0x%" PRIx64
            ", which the task's nucd does not name:\n  by ",
            footprint_kind_name(finding->kind), finding->size, finding->address);
    fprintf(stderr, "%s at ", core->name);
    print_place(timed, finding->pc);
    fprintf(stderr, ", after %s\n  in the task of the nucd at ", time);
    print_place(timed, finding->nucd);
    fprintf(stderr, "\n  %s\n", footprint_advice(finding));
}

static void unknown(void *context, unsigned accel, uint64_t begin)
{
    struct timed *timed = context;
    scheduler_begin_message(&timed->scheduler);
    fprintf(stderr, "croft: --check nucd: the task of the region at ");
    print_place(timed, begin);
    fprintf(stderr, ", on %s was not sent by a nucd: such tasks are not checked\n",
            timed->cores[timed->hosts + accel].name);
}

/* The program's segments that it cannot write. */
static void allow_segments(struct timed *timed)
{
    Elf *elf = symbols_elf(timed->symbols);
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && segment.p_memsz &&
            !(segment.p_flags & PF_W))
            footprint_check_allow(timed->footprint, segment.p_vaddr, segment.p_vaddr + segment.p_memsz - 1);
    }
}

static uint64_t read_register(const void *context, unsigned reg)
{
    return ((const struct hart *)context)->x[reg];
}

/* A driver is called for a nucd: its packets do not say what the task may access, but the operands do. */
static void called(void *context, const struct hart *hart, const struct insn *insn)
{
    struct timed *timed = context;
    const uint8_t capabilities = (uint8_t)timed->options.machine->nucd->capabilities;
    const struct nucd_limits limits = {.capabilities = &capabilities, .targets = 1};
    const struct nucd_operands operands = {.pc = hart->pc,
                                           .xn = insn->rs1,
                                           .xd = insn->rs2,
                                           .frm = hart->frm,
                                           .read = read_register,
                                           .context = hart};
    struct nucd_task task;
    if (nucd_packet_task(&operands, &limits, &task) == NUCD_WELL_FORMED)
        footprint_check_offer(timed->footprint, &task);
}

void timed_watch_tasks(struct timed *timed)
{
    const struct footprint_check_options options = {
        .accelerators = timed->count - timed->hosts, .report = report, .unknown = unknown, .context = timed};
    timed->footprint = footprint_check_new(&options);
    allow_segments(timed);
    for (unsigned i = 0; i < timed->hosts; i++) {
        timed->harts[i].offload.called = called;
        timed->harts[i].offload.call_context = timed;
    }
    offload_check(timed->options.offload, timed->footprint);
}

bool timed_check_summary(const struct timed *timed)
{
    const struct footprint_counters *counted = footprint_check_counted(timed->footprint);
    unsigned count;
    const struct footprint_finding *findings = footprint_check_findings(timed->footprint, &count);
    if (count == 0)
        return false;
    fprintf(stderr,
            "croft: --check nucd: %" PRIu64
            " accesses of tasks that their nucds do not name, by %u instructions:\n",
            counted->violations, count);
    for (unsigned i = 0; i < count; i++)
        fprintf(stderr, "  0x%" PRIx64 ": %" PRIu64 " %s%s\n", findings[i].pc, findings[i].count,
                findings[i].kind == FOOTPRINT_FETCH  ? "fetch"
                : findings[i].kind == FOOTPRINT_LOAD ? "load"
                                                     : "store",
                findings[i].count == 1                ? ""
                : findings[i].kind == FOOTPRINT_FETCH ? "es"
                                                      : "s");
    return true;
}
