#include "emu/debug/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/debug/line.h"
#include "emu/hart/probe.h"
#include "emu/hart/step.h"
#include "emu/sim/alloc.h"
#include "emu/sim/text/nearest.h"
#include "emu/sim/text/say.h"
#include "isa/disasm.h"

enum log_kind { LOG_COMMIT, LOG_INSN, LOG_TRAP, LOG_KINDS };

struct log {
    struct line_writer out;
    enum log_kind kind;
    const char *file; /* file name for messages, points into `name`; NULL for standard error */
    char name[];
};

const char *const log_kinds[] = {[LOG_COMMIT] = "commit", [LOG_INSN] = "insn", [LOG_TRAP] = "trap", NULL};

static bool parse_kind(const char *text, size_t length, enum log_kind *kind, struct error *err)
{
    char given[32];
    (void)snprintf(given, sizeof given, "%.*s", (int)length, text);
    for (unsigned i = 0; i < LOG_KINDS; i++) {
        if (strcmp(given, log_kinds[i]) == 0) {
            *kind = (enum log_kind)i;
            return true;
        }
    }
    return error_set(err, "--log: unknown kind '%s'%s, optionally followed by :FILE", given,
                     nearest_allowed(given, log_kinds, LOG_KINDS).text);
}

/* Splits KIND[:FILE]. *file is NULL if FILE is missing. */
static bool parse(const char *kind_and_file, enum log_kind *kind, const char **file, struct error *err)
{
    const char *colon = strchr(kind_and_file, ':');
    *file = colon ? colon + 1 : NULL;
    return parse_kind(kind_and_file, colon ? (size_t)(colon - kind_and_file) : strlen(kind_and_file), kind,
                      err);
}

bool log_check(const char *kind_and_file, struct error *err)
{
    enum log_kind kind;
    const char *file;
    return parse(kind_and_file, &kind, &file, err);
}

struct log *log_open(const char *kind_and_file, struct error *err)
{
    enum log_kind kind = LOG_COMMIT;
    const char *path;
    if (!parse(kind_and_file, &kind, &path, err))
        return NULL;
    struct log *log = alloc(1, sizeof *log + strlen(kind_and_file) + 1);
    log->kind = kind;
    FILE *file = say_stream();
    if (path) {
        strcpy(log->name, path);
        log->file = log->name;
        file = fopen(log->file, "w");
    }
    if (!file) {
        error_set(err, "--log: cannot write %s: %s", log->file, strerror(errno));
        free(log);
        return NULL;
    }
    line_open(&log->out, file);
    return log;
}

void log_flush(struct log *log)
{
    line_flush(&log->out);
}

bool log_close(struct log *log, struct error *err)
{
    if (!log)
        return true;
    line_flush(&log->out);
    int failure = log->out.failure;
    if (log->file && fclose(log->out.file) != 0 && failure == 0)
        failure = errno;
    if (failure)
        error_set(err, "--log: writing %s failed: %s", log->file ? log->file : "standard error",
                  strerror(failure));
    free(log);
    return failure == 0;
}

/* The commit log (Spike's --log-commits): privilege, pc, instruction bits, then CSRs, registers and memory. */
static void write_register(struct line_writer *out, char kind, unsigned number, uint64_t value)
{
    line_text(out, " ");
    line_char(out, kind);
    line_decimal(out, number);
    line_text(out, number < 10 ? "  0x" : " 0x");
    line_hex(out, value, 16);
}

static void write_csr(struct line_writer *out, unsigned number, uint64_t value)
{
    const char *name = csr_name(number);
    line_text(out, " c");
    line_decimal(out, number);
    line_text(out, "_");
    line_text(out, name ? name : "unknown");
    line_text(out, " 0x");
    line_hex(out, value, 16);
}

static void write_csrs(struct line_writer *out, const struct effects *effects)
{
    for (unsigned i = 0; i < effects->csr_count; i++)
        write_csr(out, effects->csrs[i].number, effects->csrs[i].value);
}

static void write_memory(struct line_writer *out, const struct effects *effects)
{
    if (effects->loaded) {
        line_text(out, " mem 0x");
        line_hex(out, effects->address, 16);
    }
    if (effects->stored) {
        line_text(out, " mem 0x");
        line_hex(out, effects->address, 16);
        line_text(out, " 0x");
        line_hex(out, effects->data, 2u * effects->size);
    }
}

static void write_core(struct line_writer *out, const struct hart *hart)
{
    line_text(out, hart->hartid < 10 ? "core   " : hart->hartid < 100 ? "core  " : "core ");
    line_decimal(out, hart->hartid);
    line_text(out, ": ");
}

static void write_commit(struct line_writer *out, const struct hart *hart, const struct step_report *report)
{
    const struct insn *insn = &report->insn;
    const struct effects *effects = &report->effects;
    write_core(out, hart);
    line_decimal(out, report->privilege);
    line_text(out, " 0x");
    line_hex(out, report->pc, 16);
    line_text(out, " (0x");
    line_hex(out, insn->bits, 2u * insn->length);
    line_text(out, ")");
    /* As in Spike, a CSR instruction lists rd before its CSR; other instructions list the CSRs that they
     * change before rd. */
    bool csr_last = insn_table[insn->id].iclass == CLASS_CSR;
    if (!csr_last)
        write_csrs(out, effects);
    unsigned role = format_table[insn_table[insn->id].format].rd;
    if (role == ROLE_F)
        write_register(out, 'f', insn->rd, hart->f[insn->rd]);
    else if (role == ROLE_X && insn->rd != 0)
        write_register(out, 'x', insn->rd, hart->x[insn->rd]);
    if (csr_last)
        write_csrs(out, effects);
    write_memory(out, effects);
    line_text(out, "\n");
}

/* The instruction log (Spike's -l): mnemonic padded to 8 columns and at least by one, operands as printed by our disassembler. */
static void write_insn(struct line_writer *out, const struct hart *hart, const struct step_report *report)
{
    const struct insn *insn = &report->insn;
    uint64_t pc = report->pc;
    char text[128];
    disasm(insn, pc, text, sizeof text);
    char *operands = strchr(text, '\t');
    write_core(out, hart);
    line_text(out, "0x");
    line_hex(out, pc, 16);
    line_text(out, " (0x");
    line_hex(out, insn->bits, 8);
    line_text(out, ") ");
    if (operands) {
        *operands++ = '\0';
        line_text(out, text);
        line_char(out, ' ');
        for (size_t i = strlen(text) + 1; i < 8; i++)
            line_char(out, ' ');
        for (; *operands; operands++) {
            line_char(out, *operands);
            if (*operands == ',')
                line_char(out, ' ');
        }
    } else {
        line_text(out, text);
    }
    line_text(out, "\n");
}

static const char *trap_name(enum trap_cause cause)
{
    switch (cause) {
    case TRAP_FETCH_MISALIGNED: return "trap_instruction_address_misaligned";
    case TRAP_FETCH_ACCESS: return "trap_instruction_access_fault";
    case TRAP_ILLEGAL_INSTRUCTION: return "trap_illegal_instruction";
    case TRAP_BREAKPOINT: return "trap_breakpoint";
    case TRAP_LOAD_MISALIGNED: return "trap_load_address_misaligned";
    case TRAP_LOAD_ACCESS: return "trap_load_access_fault";
    case TRAP_STORE_MISALIGNED: return "trap_store_address_misaligned";
    case TRAP_STORE_ACCESS: return "trap_store_access_fault";
    case TRAP_ECALL_USER: return "trap_user_ecall";
    case TRAP_ECALL_SUPERVISOR: return "trap_supervisor_ecall";
    case TRAP_ECALL_MACHINE: return "trap_machine_ecall";
    case TRAP_FETCH_PAGE: return "trap_instruction_page_fault";
    case TRAP_LOAD_PAGE: return "trap_load_page_fault";
    case TRAP_STORE_PAGE: return "trap_store_page_fault";
    case TRAP_NUCD_FAULT: return "trap_nucd_fault";
    case TRAP_NUCD_CALL: return "trap_nucd_call";
    case TRAP_NUCD_ORDER: return "trap_nucd_order";
    case TRAP_NUCD_LEFT: return "trap_nucd_left";
    }
    return "trap_unknown";
}

static void write_trap(struct line_writer *out, const struct hart *hart, const struct step_report *report)
{
    enum trap_cause cause = report->trap.cause;
    write_core(out, hart);
    line_text(out, "exception ");
    line_text(out, trap_name(cause));
    line_text(out, ", epc 0x");
    line_hex(out, report->pc, 16);
    line_text(out, "\n");
    if (cause == TRAP_ECALL_USER || cause == TRAP_ECALL_SUPERVISOR || cause == TRAP_ECALL_MACHINE)
        return;
    write_core(out, hart);
    line_text(out, "          tval 0x");
    line_hex(out, report->trap.value, 16);
    line_text(out, "\n");
}

static void write_interrupt(struct line_writer *out, const struct hart *hart,
                            const struct step_report *report)
{
    write_core(out, hart);
    line_text(out, "exception interrupt #");
    line_decimal(out, report->interrupt);
    line_text(out, ", epc 0x");
    line_hex(out, report->interrupted_pc, 16);
    line_text(out, "\n");
}

/* Writes the instruction's line before the line of its trap. */
void log_report(struct log *log, const struct hart *hart, const struct step_report *report)
{
    if (report->interrupt)
        write_interrupt(&log->out, hart, report);
    if (log->kind == LOG_INSN && (report->retired || report->insn.length != 0))
        write_insn(&log->out, hart, report);
    if (report->trapped)
        write_trap(&log->out, hart, report);
    else if (log->kind == LOG_COMMIT && report->retired)
        write_commit(&log->out, hart, report);
}

bool log_is_sparse(const struct log *log)
{
    return log->kind == LOG_TRAP;
}

void log_taken(void *context, const struct hart *hart, const struct hart_taken *taken)
{
    struct log *log = context;
    struct step_report report = {.pc = taken->pc, .interrupted_pc = taken->pc, .trapped = !taken->interrupt};
    if (taken->interrupt)
        report.interrupt = (unsigned)taken->cause;
    else
        report.trap = (struct trap){(enum trap_cause)taken->cause, taken->value};
    log_report(log, hart, &report);
    if (!log->file)
        line_flush(&log->out); /* in the order of what the program writes there */
}

static enum hart_stop step_and_write(struct log *log, struct hart *hart)
{
    struct step_report report;
    enum hart_stop stop = hart_step(hart, &report);
    log_report(log, hart, &report);
    return stop;
}

enum hart_stop log_run(struct log *log, struct hart *hart, uint64_t max_insns)
{
    uint64_t end = hart_progress(hart) + max_insns;
    hart->attention = true;
    while (hart_progress(hart) < end) {
        if (hart->breakpoint_count && hart_has_breakpoint(hart, hart->pc))
            return HART_STOP_BREAK;
        enum hart_stop stop = step_and_write(log, hart);
        if (stop != HART_STOP_LIMIT)
            return stop;
    }
    return HART_STOP_LIMIT;
}
