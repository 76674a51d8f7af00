/* What the description of a machine says about offloading by nucd. */
#ifndef EMU_NUCD_DESCRIPTION_H
#define EMU_NUCD_DESCRIPTION_H

#include "emu/mem/phys.h"
#include "emu/nucd/config.h"
#include "emu/schema/tree.h"

/* The part `nucd`, or NULL. */
const struct nucd_config *nucd_described(const struct tree *tree);

/* Whether the accelerators have task units: a machine whose cores tell time, with nucd and an accelerator or more. */
bool nucd_wanted(const struct tree *tree);

/* How many accelerators take tasks with this firmware: none without (NULL). */
unsigned nucd_count(const struct tree *tree, const char *firmware);

/* The part of all memory that is left for programs, and the firmware's, the last nucd.memory bytes; they share the bytes.
 * Only the first can be asked for when no accelerator takes tasks: it is all memory. */
struct phys nucd_program_memory(const struct tree *tree, const char *firmware, const struct phys *memory);
struct phys nucd_firmware_memory(const struct tree *tree, const struct phys *memory);

/* Whether the firmware's memory fits into main memory (its first address and size), beside programs with a stack of that
 * many bytes; the message names nucd.memory. */
bool nucd_check_memory(const struct tree *tree, uint64_t base, uint64_t size, uint64_t stack,
                       struct error *err);

/* What a run may warn of on standard error, if it is so. The driver, which nucd.mode asks for, is in the kernel, and the run
 * has none. */
void nucd_warn_driver(const struct tree *tree);

/* The option shows nothing of what accelerators execute for a program without the kernel. */
void nucd_warn_regions(const struct tree *tree, const char *option);

/* Hosts that run the program, as all do in machine mode, but do not offload. */
void nucd_warn_hosts(const struct tree *tree);

#endif
