#include "emu/env/bare/fault.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "emu/env/guest/fault_print.h"
#include "emu/hart/priv/csr.h"
#include "emu/hart/probe.h"
#include "emu/sim/text/say.h"
#include "isa/csr.h"
#include "isa/include/croft/roi.h"

enum { SP = 2 };

#define INTERRUPT (UINT64_C(1) << 63) /* in mcause */

static const struct {
    const char *name; /* privileged specification, table of mcause values */
    int signal;       /* that Linux sends a program */
} causes[] = {
    [TRAP_FETCH_MISALIGNED] = {"instruction address misaligned", SIGBUS},
    [TRAP_FETCH_ACCESS] = {"instruction access fault", SIGSEGV},
    [TRAP_ILLEGAL_INSTRUCTION] = {"illegal instruction", SIGILL},
    [TRAP_BREAKPOINT] = {"breakpoint", SIGTRAP},
    [TRAP_LOAD_MISALIGNED] = {"load address misaligned", SIGBUS},
    [TRAP_LOAD_ACCESS] = {"load access fault", SIGSEGV},
    [TRAP_STORE_MISALIGNED] = {"store/AMO address misaligned", SIGBUS},
    [TRAP_STORE_ACCESS] = {"store/AMO access fault", SIGSEGV},
    [TRAP_ECALL_USER] = {"environment call from U-mode", SIGSYS},
    [TRAP_ECALL_SUPERVISOR] = {"environment call from S-mode", SIGSYS},
    [TRAP_ECALL_MACHINE] = {"environment call from M-mode", SIGSYS},
    [TRAP_FETCH_PAGE] = {"instruction page fault", SIGSEGV},
    [TRAP_LOAD_PAGE] = {"load page fault", SIGSEGV},
    [TRAP_STORE_PAGE] = {"store/AMO page fault", SIGSEGV},
};
enum { CAUSES = sizeof causes / sizeof causes[0] };

static const char *name_of(uint64_t cause)
{
    return cause < CAUSES && causes[cause].name ? causes[cause].name : "unknown exception";
}

static int signal_of(uint64_t cause)
{
    return cause < CAUSES && causes[cause].name ? causes[cause].signal : SIGILL;
}

/* Copies what is printable of the string at the address. */
static void copy_text(const struct hart *hart, uint64_t address, char text[BARE_FAULT_TEXT])
{
    size_t length = 0;
    char c;
    while (address && length < BARE_FAULT_TEXT - 1 && hart_memory_read(hart, address++, &c, 1) && c >= ' ' &&
           c <= '~')
        text[length++] = c;
    text[length] = '\0';
}

bool bare_fault_take(struct bare_fault *fault, struct hart *hart)
{
    struct croft_fault told;
    uint64_t x[32], next;
    _Static_assert(sizeof told == 7 * sizeof(uint64_t), "the guest's struct has the host's layout");
    if (!hart_memory_read(hart, hart->marker.value, &told, sizeof told) ||
        !hart_memory_read(hart, (uint64_t)(uintptr_t)told.x, x, sizeof x)) {
        say_warning("the marker before 0x%" PRIx64 " has no struct croft_fault at 0x%" PRIx64
                    ": it is ignored",
                    hart->pc, hart->marker.value);
        return false;
    }
    fault->cause = told.cause;
    fault->status = told.exit_status >= 1 && told.exit_status <= 255 ? (int)told.exit_status : 1;
    copy_text(hart, (uint64_t)(uintptr_t)told.text, fault->text);
    for (unsigned i = 1; i < 32; i++)
        hart->x[i] = x[i];
    /* Return as MRET does, to the mode in which the trap was taken. */
    (void)csr_poke(hart, CSR_mstatus, told.machine_status);
    (void)priv_mret(hart, &next);
    priv_changed(hart);
    hart->pc = told.pc;
    hart->trap =
        (struct trap){told.cause & INTERRUPT ? TRAP_BREAKPOINT : (enum trap_cause)told.cause, told.value};
    return true;
}

/* Prints what the access or jump was, for causes that have one. */
static void print_detail(const struct hart *hart, const struct fault_place *place)
{
    const struct trap *trap = &hart->trap;
    switch (trap->cause) {
    case TRAP_LOAD_MISALIGNED:
    case TRAP_LOAD_ACCESS:
    case TRAP_LOAD_PAGE:
        fprintf(stderr, ", ");
        fault_print_access(place, "load", "from", trap->value);
        break;
    case TRAP_STORE_MISALIGNED:
    case TRAP_STORE_ACCESS:
    case TRAP_STORE_PAGE:
        fprintf(stderr, ", ");
        fault_print_access(place, insn_table[place->insn.id].iclass == CLASS_AMO ? "atomic access" : "store",
                           "to", trap->value);
        break;
    case TRAP_FETCH_MISALIGNED:
    case TRAP_FETCH_ACCESS:
    case TRAP_FETCH_PAGE: fprintf(stderr, ", jump to 0x%" PRIx64, trap->value); break;
    case TRAP_ILLEGAL_INSTRUCTION:
        fprintf(stderr, " 0x%0*" PRIx32, place->insn.length == 2 ? 4 : 8, place->insn.bits);
        break;
    default: break;
    }
}

static void print_headline(const struct bare_fault *fault, const struct hart *hart,
                           const struct fault_place *place)
{
    const struct trap_loop *loop = &hart->loop;
    if (!loop->found && *fault->text)
        fprintf(stderr, "%s", fault->text);
    else
        fprintf(stderr, "hart %" PRIu32 ": %s%s", hart->hartid, loop->found ? "trap loop: " : "",
                name_of(hart->trap.cause));
    if (loop->found || !(fault->cause & INTERRUPT))
        print_detail(hart, place);
    if (loop->found)
        fprintf(stderr, ", %" PRIu64 " times without progress (--trap-loops)", loop->count);
    fprintf(stderr, "\n");
}

/* Prints where the handler is that does not help, and what came before the loop. */
static void print_loop(const struct hart *hart, struct symbols *symbols)
{
    const struct trap_loop *loop = &hart->loop;
    const uint64_t vectors[] = {hart->priv.mtvec & ~UINT64_C(3), hart->priv.stvec & ~UINT64_C(3)};
    char text[SYMBOLS_TEXT];
    for (unsigned i = 0; i < 2; i++)
        if (hart->pc == vectors[i] && (i == 0 || hart->privilege == PRIV_S))
            fprintf(stderr, "  %s is 0x%" PRIx64 ": the handler itself traps, at its first instruction\n",
                    i == 0 ? "mtvec" : "stvec", vectors[i]);
    if (loop->at_stack)
        fprintf(stderr, "  sp is 0x%" PRIx64 ": the handler has no stack\n", hart->x[SP]);
    if (loop->before.cause != UINT64_MAX)
        fprintf(stderr, "  before the loop: %s at 0x%" PRIx64 ", %s\n", name_of(loop->before.cause),
                loop->before.pc, symbols_describe(symbols, loop->before.pc, text, sizeof text));
}

/* Prints the callers. If a loop has executed nothing since the trap before it, they are that trap's. */
static void print_callers(const struct hart *hart, struct symbols *symbols)
{
    const struct trap_loop *loop = &hart->loop;
    struct hart at = *hart;
    if (loop->found && loop->before.cause != UINT64_MAX && loop->before.instret == hart->instret)
        at.pc = loop->before.pc;
    fault_print_backtrace(symbols, &at);
}

/* Returns the file whose code is at the address, else the first one. */
static const char *file_at(const struct bare_options *options, uint64_t pc)
{
    const char *const files[] = {options->program, options->bios, options->kernel};
    const char *first = options->program || options->bios ? NULL : options->restore;
    for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++) {
        struct symbols *symbols = files[i] ? symbols_new(files[i]) : NULL;
        bool here = symbols && symbols_is_code(symbols, pc);
        symbols_free(symbols);
        if (here)
            return files[i];
        first = first ? first : files[i];
    }
    return first;
}

int bare_fault_report(const struct bare_fault *fault, const struct hart *hart,
                      const struct bare_options *options)
{
    const struct trap_loop *loop = &hart->loop;
    const struct fault_place place = fault_look_at(hart, hart->pc);
    const char *file = file_at(options, loop->found ? loop->before.pc : hart->pc);
    struct symbols *symbols = symbols_new(file);
    fprintf(stderr, "croft: %s: ", file);
    print_headline(fault, hart, &place);
    fault_print_place(symbols, &place, hart->pc);
    if (loop->found)
        print_loop(hart, symbols);
    fault_print_registers(hart->x, &place);
    print_callers(hart, symbols);
    symbols_free(symbols);
    return loop->found || fault->status == 0 ? 128 + signal_of(hart->trap.cause) : fault->status;
}
