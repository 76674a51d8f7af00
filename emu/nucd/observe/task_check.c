#include "emu/nucd/observe/task_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/sim/alloc.h"
#include "emu/sim/text/quantity.h"
#include "emu/sim/text/say.h"

struct task_check {
    const struct nucd_config *config;
    struct accelerators *accelerators;
    const struct core_services *machine;
    struct footprint_check *footprint;
    struct hart *hosts;
    unsigned host_count;
};

static void print_place(const struct core_services *machine, uint64_t pc)
{
    char text[CORE_DESCRIPTION];
    fprintf(say_stream(), "0x%" PRIx64 ", %s", pc,
            machine->describe(machine->context, pc, text, sizeof text));
}

static void report(void *context, const struct footprint_finding *finding)
{
    const struct core_services *machine = ((struct task_check *)context)->machine;
    char time[QUANTITY_TEXT];
    quantity_format(QUANTITY_TIME, machine->queue->now, time);
    machine->begin_message(machine->context);
    fprintf(say_stream(),
            "croft: --check nucd: %s of %u bytes at 0x%" PRIx64
            ", which the task's nucd does not name:\n  by ",
            footprint_kind_name(finding->kind), finding->size, finding->address);
    fprintf(say_stream(), "accel.%u at ", finding->accelerator);
    print_place(machine, finding->pc);
    fprintf(say_stream(), ", after %s\n  in the task of the nucd at ", time);
    print_place(machine, finding->nucd);
    fprintf(say_stream(), "\n  %s\n", footprint_advice(finding));
}

static void unknown(void *context, unsigned accelerator, uint64_t begin)
{
    const struct core_services *machine = ((struct task_check *)context)->machine;
    machine->begin_message(machine->context);
    fprintf(say_stream(), "croft: --check nucd: the task of the region at ");
    print_place(machine, begin);
    fprintf(say_stream(), ", on accel.%u was not sent by a nucd: such tasks are not checked\n", accelerator);
}

static uint64_t read_register(const void *context, unsigned reg)
{
    return ((const struct hart *)context)->x[reg];
}

/* Called when a driver is called for a nucd. The operands say what the task may access; the driver's packets
 * do not. */
static void called(void *context, const struct hart *hart, const struct insn *insn)
{
    const struct task_check *check = context;
    const uint8_t capabilities = (uint8_t)check->config->capabilities;
    const struct nucd_limits limits = {.capabilities = &capabilities, .accelerators = 1};
    const struct nucd_operands operands = {.pc = hart->pc,
                                           .xn = insn->rs1,
                                           .xd = insn->rs2,
                                           .frm = hart->frm,
                                           .read = read_register,
                                           .context = hart};
    struct nucd_task task;
    if (nucd_packet_task(&operands, &limits, &task) == NUCD_WELL_FORMED)
        footprint_check_offer(check->footprint, &task);
}

struct task_check *task_check_new(const struct nucd_config *config, struct accelerators *accelerators,
                                  struct hart *hosts, unsigned host_count,
                                  const struct core_services *machine)
{
    struct task_check *check = alloc(1, sizeof *check);
    const struct footprint_check_options options = {.accelerators = accelerators_count(accelerators),
                                                    .report = report,
                                                    .unknown = unknown,
                                                    .context = check};
    *check =
        (struct task_check){config, accelerators, machine, footprint_check_new(&options), hosts, host_count};
    for (unsigned i = 0; i < host_count; i++) {
        hosts[i].offload.called = called;
        hosts[i].offload.call_context = check;
    }
    accelerators_check(accelerators, check->footprint);
    return check;
}

void task_check_free(struct task_check *check)
{
    if (!check)
        return;
    for (unsigned i = 0; i < check->host_count; i++)
        check->hosts[i].offload.called = NULL;
    accelerators_check(check->accelerators, NULL);
    footprint_check_free(check->footprint);
    free(check);
}

void task_check_allow(struct task_check *check, uint64_t first, uint64_t last)
{
    footprint_check_allow(check->footprint, first, last);
}

void task_check_publish(struct task_check *check, struct stats *stats)
{
    footprint_check_publish(check->footprint, stats, scope_enter(NULL, "nucd.check"));
}

/* Returns "load", "loads", "fetches" and so on. */
static const char *noun(enum footprint_kind kind, bool one)
{
    static const char *const names[FOOTPRINT_KINDS][2] = {[FOOTPRINT_LOAD] = {"loads", "load"},
                                                          [FOOTPRINT_STORE] = {"stores", "store"},
                                                          [FOOTPRINT_FETCH] = {"fetches", "fetch"}};
    return names[kind][one];
}

bool task_check_summary(const struct task_check *check)
{
    const struct footprint_counters *counted = footprint_check_counted(check->footprint);
    unsigned count;
    const struct footprint_finding *findings = footprint_check_findings(check->footprint, &count);
    if (count == 0)
        return false;
    fprintf(say_stream(),
            "croft: --check nucd: %" PRIu64
            " accesses of tasks that their nucds do not name, by %u instructions:\n",
            counted->violations, count);
    for (unsigned i = 0; i < count; i++)
        fprintf(say_stream(), "  0x%" PRIx64 ": %" PRIu64 " %s\n", findings[i].pc, findings[i].count,
                noun(findings[i].kind, findings[i].count == 1));
    return true;
}
