/* What a debugger does to a hart: look at it, change it, and have it stop. Nothing here traps, or has
 * an effect on a device. */
#ifndef EMU_HART_PROBE_H
#define EMU_HART_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/hart/hart.h"

/* A CSR, whatever the mode; false when it does not exist, or for poke, is read-only. */
bool hart_csr_peek(const struct hart *hart, unsigned number, uint64_t *value);
bool hart_csr_poke(struct hart *hart, unsigned number, uint64_t value);

/* Copies length bytes at a virtual address through the hart's current data translation, permissions aside.
 * False when a byte of it is neither in main memory nor at a holder (bytes.h) that lets itself be copied; then nothing, or a first part, was copied. Code that is
 * written over is forgotten. */
bool hart_memory_read(const struct hart *hart, uint64_t address, void *to, uint64_t length);
bool hart_memory_write(struct hart *hart, uint64_t address, const void *from, uint64_t length);

/* Breakpoints stop hart_run() in front of the instruction at an address; hart_step() passes over them. Adding
 * one twice is no error. False when there is no room (add), or none is there (remove). */
bool hart_breakpoint_add(struct hart *hart, uint64_t address);
bool hart_breakpoint_remove(struct hart *hart, uint64_t address);
bool hart_has_breakpoint(const struct hart *hart, uint64_t address);

/* Watchpoints stop the hart behind an access that touches a range of virtual addresses. kinds: set of enum
 * hart_watch. */
bool hart_watchpoint_add(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds);
bool hart_watchpoint_remove(struct hart *hart, uint64_t address, uint64_t length, unsigned kinds);

#endif
