/* C handlers for traps into machine mode. */
#include <croft/firmware/csr.h>
#include <croft/firmware/exit.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/trap.h>
#include <croft/firmware/uart.h>
#include <croft/roi.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/start/stack_guard.h"
#include "firmware/start/trap_frame.h"

_Static_assert(offsetof(struct trap_frame, pc) == FRAME_PC &&
                   offsetof(struct trap_frame, status) == FRAME_STATUS &&
                   offsetof(struct trap_frame, cause) == FRAME_CAUSE &&
                   offsetof(struct trap_frame, value) == FRAME_VALUE && sizeof(struct trap_frame) == FRAME_FP,
               "trap_entry.S finds the fields");

/* start/trap_entry.S */
extern const char trap_entry[], trap_vectors[];
void trap_dispatch(struct trap_frame *frame);
_Noreturn void trap_overflow(const struct trap_frame *frame);

static trap_handler *exceptions[TRAP_EXCEPTIONS], *interrupts[TRAP_INTERRUPTS];

static const struct {
    const char *name;
    int status; /* 128 + the number of Linux's signal for this cause */
} causes[] = {
    {"instruction address misaligned", 135},
    {"instruction access fault", 139},
    {"illegal instruction", 132},
    {"breakpoint", 133},
    {"load address misaligned", 135},
    {"load access fault", 139},
    {"store/AMO address misaligned", 135},
    {"store/AMO access fault", 139},
    {"environment call from U-mode", 159},
    {"environment call from S-mode", 159},
    {"reserved", 132},
    {"environment call from M-mode", 159},
    {"instruction page fault", 139},
    {"load page fault", 139},
    {"reserved", 132},
    {"store/AMO page fault", 139},
};
enum { CAUSES = sizeof causes / sizeof causes[0] };

enum { STATUS_ILL = 132, STATUS_SEGV = 139, CAUSE_LOAD_ACCESS = 5, CAUSE_STORE_ACCESS = 7 };

static const unsigned long interrupt_bit = 1ul << 63;

enum { LINE = 320, NUMBER = 20 };

/* A line of text; the lines below have room for all of their parts. */
struct line {
    char text[LINE];
    unsigned length;
};

static void add(struct line *line, const char *text)
{
    while (*text && line->length < LINE - 1)
        line->text[line->length++] = *text++;
    line->text[line->length] = '\0';
}

static void add_number(struct line *line, const char *label, unsigned long number, unsigned base)
{
    char digits[NUMBER + 1], *at = &digits[NUMBER];
    *at = '\0';
    do
        *--at = "0123456789abcdef"[number % base];
    while (number /= base);
    add(line, label);
    add(line, base == 16 ? "0x" : "");
    add(line, at);
}

/* Ends the run with a line that the emulator repeats with source lines and callers; other machines ignore the marker. */
_Noreturn static void die(const struct trap_frame *frame, struct line *line, int status)
{
    const unsigned headline = line->length;
    add_number(line, ", pc ", frame->pc, 16);
    add_number(line, ", value ", frame->value, 16);
    add_number(line, ", ra ", frame->x[1], 16);
    add_number(line, ", sp ", frame->x[2], 16);
    add(line, "\n");
    uart_puts(line->text);
    line->text[headline] = '\0';
    const struct croft_fault fault = {.x = frame->x,
                                      .pc = frame->pc,
                                      .machine_status = frame->status,
                                      .cause = frame->cause,
                                      .value = frame->value,
                                      .exit_status = (unsigned long)status,
                                      .text = line->text};
    CROFT_MARKER(CROFT_MARKER_FAULT, &fault);
    machine_exit(status);
}

#define LINKER_VALUE(symbol)                                                                                 \
    ({                                                                                                       \
        unsigned long value_;                                                                                \
        __asm__("lui %0, %%hi(" #symbol ")\n\taddi %0, %0, %%lo(" #symbol ")" : "=r"(value_));               \
        value_;                                                                                              \
    })

_Noreturn void trap_overflow(const struct trap_frame *frame)
{
    const bool boot = hart_id() == 0;
    struct line line = {.length = 0};
    add_number(&line, "stack overflow of hart ", hart_id(), 10);
    add_number(&line, ": its stack has ", boot ? LINKER_VALUE(__stack_size) : LINKER_VALUE(__hart_stack_size),
               10);
    add(&line, " bytes (-Wl,--defsym,");
    add(&line, boot ? "__stack_size" : "__hart_stack_size");
    add(&line, "=BYTES)");
    die(frame, &line, STATUS_SEGV);
}

/* GUARD_... are macros, which the arguments of csr_read() are not expanded in. */
#define READ(csr) csr_read(csr)

/* Returns whether the trap is an access to the guard below this hart's stack. */
static bool is_overflow(const struct trap_frame *frame)
{
    bool access = frame->cause == CAUSE_LOAD_ACCESS || frame->cause == CAUSE_STORE_ACCESS;
    bool guarded = READ(GUARD_CONFIG) >> GUARD_LOCK_BIT & 1;
    return access && guarded && frame->value >= READ(GUARD_START) << 2 && frame->value < READ(GUARD_END) << 2;
}

_Noreturn static void unhandled(const struct trap_frame *frame)
{
    unsigned long number = frame->cause & ~interrupt_bit;
    struct line line = {.length = 0};
    int status = 1;
    if (is_overflow(frame))
        trap_overflow(frame);
    add_number(&line, "hart ", hart_id(), 16);
    if (frame->cause & interrupt_bit) {
        add_number(&line, ": interrupt without handler: ", number, 16);
    } else {
        add(&line, ": ");
        add(&line, number < CAUSES ? causes[number].name : "unknown exception");
        status = number < CAUSES ? causes[number].status : STATUS_ILL;
    }
    die(frame, &line, status);
}

void trap_dispatch(struct trap_frame *frame)
{
    unsigned long number = frame->cause & ~interrupt_bit;
    trap_handler *handler = NULL;
    if (number < TRAP_EXCEPTIONS)
        handler = frame->cause & interrupt_bit ? interrupts[number] : exceptions[number];
    if (!handler)
        unhandled(frame);
    handler(frame);
}

bool trap_set_exception(unsigned cause, trap_handler *handler)
{
    if (cause >= TRAP_EXCEPTIONS)
        return false;
    exceptions[cause] = handler;
    return true;
}

bool trap_set_interrupt(unsigned number, trap_handler *handler)
{
    if (number >= TRAP_INTERRUPTS)
        return false;
    interrupts[number] = handler;
    return true;
}

unsigned trap_instruction_length(unsigned long pc)
{
    return (*(const uint16_t *)pc & 3) == 3 ? 4 : 2;
}

void trap_use_vectors(bool vectored)
{
    csr_write(mtvec, vectored ? (unsigned long)trap_vectors | 1 : (unsigned long)trap_entry);
}

bool trap_disable(void)
{
    return csr_read_clear(mstatus, MSTATUS_MIE) & MSTATUS_MIE;
}

void trap_enable(void)
{
    csr_set(mstatus, MSTATUS_MIE);
}
