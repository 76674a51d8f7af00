#include "emu/env/bare_load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/image.h"
#include "emu/io/output.h"
#include "emu/machine/fdt.h"
#include "emu/nucd/description.h"

enum {
    KERNEL_OFFSET = 0x200000, /* offset in memory at which OpenSBI's fw_jump expects its payload */
    FDT_ALIGN = 0x200000, /* alignment of the device tree if there is room: kernels map it with 2 MiB pages */
    FDT_ALIGN_MIN = 8,    /* required by the device tree specification */
};

/* Stores the device tree at the highest free place in memory. */
static bool load_fdt(const struct bare_options *o, const struct phys *memory, const struct image_map *map,
                     uint64_t *address, struct error *err)
{
    size_t size;
    struct machine_config seen = *o->machine;
    seen.harts -= nucd_count(seen.tree, o->firmware);
    struct memory_config left = {.base = memory->base, .size = memory->size};
    seen.memory = &left;
    void *fdt = machine_fdt(&seen, NULL, &size, err);
    if (!fdt)
        return false;
    bool placed = image_place(map, memory, size, FDT_ALIGN, address) ||
                  image_place(map, memory, size, FDT_ALIGN_MIN, address);
    if (placed)
        memcpy(phys_at(memory, *address, size), fdt, size);
    free(fdt);
    return placed || error_set(err,
                               "memory.size: the loaded files leave no room for the device tree of %zu bytes "
                               "in the memory 0x%" PRIx64 "-0x%" PRIx64 "; enlarge memory.size",
                               size, memory->base, memory->base + memory->size - 1);
}

bool bare_load(const struct bare_options *o, const struct bytes *bytes, struct rom_boot *boot,
               uint64_t *program_end, struct error *err)
{
    const struct phys *memory = bytes->memory;
    struct image_map map = {0};
    uint64_t end;
    *boot = (struct rom_boot){.start = memory->base, .next_mode = PRIV_S};
    if (o->kernel &&
        !image_load(o->kernel, memory->base + KERNEL_OFFSET, bytes, &map, &boot->next, &end, err))
        return error_prefix(err, "--kernel");
    if (o->bios && !image_load(o->bios, memory->base, bytes, &map, &boot->start, &end, err))
        return error_prefix(err, "--bios");
    if (o->program && !image_load(o->program, memory->base, bytes, &map, &boot->start, program_end, err))
        return false;
    return load_fdt(o, memory, &map, &boot->fdt, err);
}

/* Writes the words of the signature region in RISCOF's format: one word of 8 hexadecimal digits per line. */
bool bare_write_signature(const struct bare_options *o, const struct bytes *bytes, struct error *err)
{
    uint64_t begin, end;
    if (!o->signature)
        return true;
    const char *file = o->program ? o->program : o->bios;
    if (!image_symbol(file, "begin_signature", &begin) || !image_symbol(file, "end_signature", &end))
        return error_set(err, "--signature: %s has no symbols begin_signature and end_signature", file);
    if (end < begin || bytes_reach(bytes, begin, end - begin, true) < end - begin)
        return error_set(err, "--signature: 0x%" PRIx64 " to 0x%" PRIx64 " is not a range of memory", begin,
                         end);
    struct output *out = output_open(o->signature, err);
    if (!out)
        return error_prefix(err, "--signature");
    for (uint64_t i = 0; i + 4 <= end - begin; i += 4) {
        uint32_t word;
        if (bytes_read(bytes, begin + i, &word, 4) < 4)
            word = 0;
        (void)fprintf(output_stream(out), "%08" PRIx32 "\n", word);
    }
    return output_keep(out, err) || error_prefix(err, "--signature");
}
