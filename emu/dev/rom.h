/* The boot ROM: where a hart's first instructions are. */
#ifndef EMU_DEV_ROM_H
#define EMU_DEV_ROM_H

#include "emu/mem/bus.h"

enum { ROM_SIZE = 0xf000, ROM_ACCESS = BUS_ANY };

/* What the boot program hands over. */
struct rom_boot {
    uint64_t start;     /* address of the first program, the firmware */
    uint64_t fdt;       /* address of the device tree, or 0 */
    uint64_t next;      /* address of what the firmware starts, or 0: it knows itself */
    uint64_t next_mode; /* privilege at `next`: 0, 1 or 3 */
};

struct rom;

/* Bytes at the start of the ROM that the boot program takes. */
enum { ROM_BOOT_SIZE = 0x58 };

/* ROM_SIZE bytes of zero, in which the harts' writes change nothing; loaders may fill what lies behind the boot program. NULL when the host has no memory. Release with
 * rom_free(). */
struct rom *rom_create(void);
void rom_free(struct rom *rom);

/* Puts the boot program at the start of the ROM. Each hart that enters there jumps to boot->start with a0 =
 * its hart id, a1 = boot->fdt and a2 = the address of OpenSBI's `struct fw_dynamic_info`, version 2, for
 * `next` (OpenSBI, include/sbi/fw_dynamic.h). t0 is used up. */
void rom_set_boot(struct rom *rom, const struct rom_boot *boot);

extern const struct device_ops rom_ops;

#endif
