/* The boot ROM, from which the harts fetch their first instructions. */
#ifndef EMU_DEV_ROM_H
#define EMU_DEV_ROM_H

#include "emu/mem/phys/bus.h"

enum { ROM_SIZE = 0xf000, ROM_ACCESS = BUS_ANY };

/* Arguments of the boot program. */
struct rom_boot {
    uint64_t start;     /* address of the first program, the firmware */
    uint64_t fdt;       /* address of the device tree, or 0 */
    uint64_t next;      /* address of the program that the firmware starts; 0: the firmware chooses */
    uint64_t next_mode; /* privilege level at `next`: 0, 1 or 3 */
};

struct rom;

/* Bytes of the boot program, at the start of the ROM. */
enum { ROM_BOOT_SIZE = 0x58 };

/* Creates a ROM of ROM_SIZE zero bytes. Stores by harts are ignored; loaders may fill the bytes after the
 * boot program. NULL when out of host memory. Free with rom_free(). */
struct rom *rom_new(void);
void rom_free(struct rom *rom);

/* Writes the boot program to the start of the ROM. Each hart that enters there jumps to boot->start with a0 =
 * its hart id, a1 = boot->fdt and a2 = the address of OpenSBI's `struct fw_dynamic_info`, version 2, which
 * describes `next` (OpenSBI, include/sbi/fw_dynamic.h). The program overwrites t0. */
void rom_set_boot(struct rom *rom, const struct rom_boot *boot);

extern const struct device_ops rom_ops;

#endif
