/* CLINT: inter-processor interrupts and the machine timer. */
#ifndef CROFT_FIRMWARE_CLINT_H
#define CROFT_FIRMWARE_CLINT_H

#include <stdbool.h>
#include <stdint.h>

/* The time since reset in ticks of 1 / CROFT_TIMEBASE seconds. */
uint64_t clint_time(void);

/* Raises this hart's machine timer interrupt (pending bit) from that time on; UINT64_MAX: never. */
void clint_set_timer(unsigned hart, uint64_t time);

/* Raises or lowers a hart's machine software interrupt. */
void clint_send_ipi(unsigned hart);
void clint_clear_ipi(unsigned hart);
bool clint_ipi_pending(unsigned hart);

#endif
