#include "emu/dev/rom.h"

#include <stdlib.h>
#include <string.h>

#include "emu/dev/device.h"
#include "emu/sim/alloc.h"
#include "emu/sim/little_endian.h"

enum {
    START = 0x18, /* offsets of the words that the program loads */
    FDT = 0x20,
    DYNAMIC = 0x28,
};

/* OpenSBI's struct fw_dynamic_info */
enum { DYNAMIC_MAGIC = 0x4942534f, DYNAMIC_VERSION = 2 };

_Static_assert(DYNAMIC + 6 * 8 == ROM_BOOT_SIZE, "the boot program ends with the dynamic information");

static const uint32_t program[] = {
    0x00000297, /* auipc t0, 0 */
    0xf1402573, /* csrr  a0, mhartid */
    0x0202b583, /* ld    a1, FDT(t0) */
    0x02828613, /* addi  a2, t0, DYNAMIC */
    0x0182b283, /* ld    t0, START(t0) */
    0x00028067, /* jr    t0 */
};

struct rom {
    uint8_t bytes[ROM_SIZE];
};

struct rom *rom_new(void)
{
    return alloc(1, sizeof(struct rom));
}

void rom_free(struct rom *rom)
{
    free(rom);
}

void rom_set_boot(struct rom *rom, const struct rom_boot *boot)
{
    const uint64_t dynamic[] = {DYNAMIC_MAGIC, DYNAMIC_VERSION, boot->next, boot->next_mode, 0, 0};
    for (size_t i = 0; i < sizeof program / sizeof program[0]; i++)
        little_endian_put(rom->bytes + 4 * i, program[i], 4);
    little_endian_put(rom->bytes + START, boot->start, 8);
    little_endian_put(rom->bytes + FDT, boot->fdt, 8);
    for (size_t i = 0; i < sizeof dynamic / sizeof dynamic[0]; i++)
        little_endian_put(rom->bytes + DYNAMIC + 8 * i, dynamic[i], 8);
}

static uint64_t rom_read(void *device, uint64_t offset, unsigned size)
{
    const struct rom *rom = device;
    return little_endian_get(rom->bytes + offset, size);
}

static void rom_write(void *device, uint64_t offset, unsigned size, uint64_t value)
{
    (void)device;
    (void)offset;
    (void)size;
    (void)value;
}

/* Loaders may write anywhere but the boot program. */
static bool rom_functional(void *device, const struct mem_access *access)
{
    uint8_t *at = ((struct rom *)device)->bytes + access->address;
    if (access->write && access->address < ROM_BOOT_SIZE)
        return false;
    memcpy(access->write ? at : access->bytes, access->write ? access->bytes : at, access->size);
    return true;
}

const struct device_ops rom_ops = {.read = rom_read, .write = rom_write, .functional = rom_functional};

static void *make(const void *config, const struct device_site *site)
{
    (void)config;
    (void)site;
    return rom_new();
}

static void free_device(void *device)
{
    rom_free(device);
}

static void snapshot(void *device, struct snapshot *s)
{
    struct rom *rom = device;
    snapshot_bytes(s, "bytes", rom->bytes, sizeof rom->bytes);
}

static const struct device_kind device = {
    .size = ROM_SIZE,
    .sizes = ROM_ACCESS,
    .executable = true,
    .storage = true,
    .ops = &rom_ops,
    .make = make,
    .free = free_device,
    .snapshot = snapshot,
};

static const struct part_field fields[] = {DEVICE_BASE("0x1000")};

const struct part_kind rom_kind = {
    .name = "rom",
    .explanation = "Boot ROM, 60 KiB: the harts start in it, and it jumps to the firmware.",
    PART_CONFIG(struct device_config),
    .extension = &device,
};
