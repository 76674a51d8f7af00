/* Accelerators that take a program's tasks: their firmware in memory, their units on the bus (emu/machine/offload.h). */
#ifndef EMU_ENV_WORKERS_H
#define EMU_ENV_WORKERS_H

#include "emu/machine/offload.h"
#include "emu/machine/system.h"

struct workers_options {
    const struct machine_config *machine;
    const char *
        firmware; /* ELF, position-independent, linked at CROFT_NUCD_FIRMWARE (linker/nucd.ld); NULL: there are
                             no tasks, and accelerators are harts like others */
    struct phys *memory; /* all of it */
    struct hart *harts;  /* of the machine, those of the host first */
    unsigned count;
    struct bus *bus;             /* for the units, and what the accelerators see */
    const struct irq_line *done; /* accel.count wires to the host; NULL: none */
};

struct workers;

/* The number of accelerators that take tasks on this machine with this firmware. */
unsigned workers_count(const struct machine_config *machine, const char *firmware);

/* The part of memory that programs have. */
struct phys workers_program_memory(const struct machine_config *machine, const char *firmware,
                                   const struct phys *memory);

/* Makes units, loads the firmware, and lets the last accel.count harts begin in it. With *err unset and NULL when
 * workers_count() is 0; otherwise NULL is a failure: err names the file, or the key. What is passed must outlive it.
 * Release with workers_free(), which takes NULL. */
struct workers *workers_new(const struct workers_options *options, struct error *err);
void workers_free(struct workers *workers);

/* The same anew, when harts and memory have been reset. NULL is allowed. */
bool workers_restart(struct workers *workers, struct error *err);

/* Tasks may not write below the address: offload_protect(). NULL is allowed. */
void workers_protect(struct workers *workers, uint64_t first);

/* Whether the address is firmware's memory below the stack of an accelerator's tasks, as one is that an overflow meets;
 * *size is the stack's. NULL is allowed. */
bool workers_overflowed(const struct workers *workers, unsigned accelerator, uint64_t address,
                        uint64_t *size);

/* The kernel's table of ranges is at this physical address. NULL is allowed. */
void workers_set_ranges(struct workers *workers, uint64_t table);

/* For the timed machine; NULL for NULL. */
struct offload *workers_offload(const struct workers *workers);

/* The system of a user program, and of the accelerators that take its tasks. */
struct user_harts {
    struct system system;
    struct phys program; /* what the program sees of memory */
    struct workers *workers;
};

bool user_harts_init(struct user_harts *user, const struct machine_config *machine, const char *firmware,
                     struct phys *memory, const struct decoder *decoder, struct error *err);
void user_harts_free(struct user_harts *user);

#endif
