/* CLINT: inter-processor interrupts and the machine timer. */
#ifndef CROFT_FIRMWARE_CLINT_H
#define CROFT_FIRMWARE_CLINT_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the time since reset in ticks of 1 / CROFT_TIMEBASE seconds. */
uint64_t clint_time(void);

/* Sets the time in ticks from which the hart's machine timer interrupt is pending; UINT64_MAX: never. */
void clint_set_timer(unsigned hart, uint64_t time);

/* Set, clear or read a hart's machine software interrupt. */
void clint_send_ipi(unsigned hart);
void clint_clear_ipi(unsigned hart);
bool clint_ipi_pending(unsigned hart);

#endif
