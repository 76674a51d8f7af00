/* Offloading by nucd in a machine's description. */
#ifndef EMU_CORE_DESCRIPTION_H
#define EMU_CORE_DESCRIPTION_H

#include "emu/mem/phys.h"
#include "emu/nucd/config.h"
#include "emu/schema/tree.h"

/* Returns the configuration of the part `nucd`, or NULL. */
const struct nucd_config *nucd_described(const struct tree *tree);

/* Sets nucd.timeout to its greatest value, because a debugger may stop accelerators for any time. Call it
 * before nucd_new(). */
void nucd_be_patient(const struct tree *tree);

/* Returns whether accelerators have task units: the machine has timed cores, a part `nucd`, and at least one
 * accelerator. */
bool nucd_wanted(const struct tree *tree);

/* Returns the number of accelerators that take tasks with this firmware; 0 if it is NULL. */
unsigned nucd_count(const struct tree *tree, const char *firmware);

/* Returns the bytes of the longest line of the cores' caches, at least NUCD_LINE: tasks that share such a line are ordered. */
uint32_t nucd_line(const struct tree *tree);

/* Return the part of main memory that is for programs, and the firmware's memory, which is the last
 * nucd.memory bytes. Both refer to the bytes of `memory`. When no accelerator takes tasks, programs have all
 * memory, and nucd_firmware_memory() must not be called. */
struct phys nucd_program_memory(const struct tree *tree, const char *firmware, const struct phys *memory);
struct phys nucd_firmware_memory(const struct tree *tree, const struct phys *memory);

/* Checks that the firmware's memory fits into main memory, given by its first address and size in bytes,
 * beside programs with a stack of `stack` bytes. Returns false with a message that names nucd.memory. */
bool nucd_check_memory(const struct tree *tree, uint64_t base, uint64_t size, uint64_t stack,
                       struct error *err);

/* The following functions print a warning on standard error if it applies.
 *
 * nucd_warn_driver(): nucd.mode asks for the driver, which is in the kernel, but the program runs without the
 * kernel. */
void nucd_warn_driver(const struct tree *tree);

/* Warns that hosts of the machine with that name have run regions themselves because no core of it can offload.
 * Does not warn if nucd.mode is none, or the driver's. firmware: the accelerators have firmware. */
void nucd_warn_inlined(const struct tree *tree, const char *machine, bool firmware);

/* Warns of hosts that run the program, as all do in machine mode, but do not offload. */
void nucd_warn_hosts(const struct tree *tree);

#endif
