/* C handlers for traps into machine mode. */
#include <croft/firmware/csr.h>
#include <croft/firmware/exit.h>
#include <croft/firmware/hart.h>
#include <croft/firmware/trap.h>
#include <croft/firmware/uart.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/start/trap_frame.h"

_Static_assert(offsetof(struct trap_frame, pc) == FRAME_PC &&
                   offsetof(struct trap_frame, status) == FRAME_STATUS &&
                   offsetof(struct trap_frame, cause) == FRAME_CAUSE &&
                   offsetof(struct trap_frame, value) == FRAME_VALUE && sizeof(struct trap_frame) == FRAME_FP,
               "trap_entry.S finds the fields");

/* start/trap_entry.S */
extern const char trap_entry[], trap_vectors[];
void trap_dispatch(struct trap_frame *frame);

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

static const unsigned long interrupt_bit = 1ul << 63;

static void put_number(const char *label, unsigned long number)
{
    uart_puts(label);
    uart_puts("0x");
    for (int shift = 60; shift >= 0; shift -= 4)
        if (number >> shift != 0 || shift == 0)
            uart_put("0123456789abcdef"[number >> shift & 15]);
}

_Noreturn static void die(const struct trap_frame *frame)
{
    unsigned long number = frame->cause & ~interrupt_bit;
    int status = 1;
    put_number("hart ", hart_id());
    if (frame->cause & interrupt_bit) {
        put_number(": interrupt without handler: ", number);
    } else {
        uart_puts(": ");
        uart_puts(number < CAUSES ? causes[number].name : "unknown exception");
        status = number < CAUSES ? causes[number].status : 132;
    }
    put_number(", pc ", frame->pc);
    put_number(", value ", frame->value);
    put_number(", ra ", frame->x[1]);
    put_number(", sp ", frame->x[2]);
    uart_puts("\n");
    machine_exit(status);
}

void trap_dispatch(struct trap_frame *frame)
{
    unsigned long number = frame->cause & ~interrupt_bit;
    trap_handler *handler = NULL;
    if (number < TRAP_EXCEPTIONS)
        handler = frame->cause & interrupt_bit ? interrupts[number] : exceptions[number];
    if (!handler)
        die(frame);
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
