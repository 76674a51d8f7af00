#include "emu/env/bare/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/loader/image.h"
#include "emu/env/tasks_part.h"
#include "emu/io/output.h"
#include "emu/machine/board/fdt.h"

enum {
    KERNEL_OFFSET = 0x200000, /* offset in memory at which OpenSBI's fw_jump expects its payload */
    FDT_ALIGN = 0x200000, /* alignment of the device tree if there is room: kernels map it with 2 MiB pages */
    FDT_ALIGN_MIN = 8,    /* required by the device tree specification */
    INITRD_ALIGN = 4096,  /* a page, because kernels free the file system page by page */
};

/* Makes the device tree: that of --dtb, or the machine's without the harts and memory of accelerators that
 * take tasks, but with their task units. */
static void *make_fdt(const struct bare_options *o, const struct phys *memory,
                      const struct fdt_chosen *chosen, size_t *size, struct error *err)
{
    struct machine_config seen = *o->machine;
    seen.harts -= tasks_count(seen.tree, o->firmware);
    struct memory_config left = {.base = memory->base, .size = memory->size};
    seen.memory = &left;
    struct tasks_node units;
    bool tasks = tasks_describe(seen.tree, o->firmware, &units);
    void *fdt =
        o->dtb ? fdt_read(o->dtb, size, err) : machine_fdt(&seen, tasks ? &units : NULL, NULL, size, err);
    if (!fdt && o->dtb)
        (void)error_prefix(err, "--dtb");
    void *chosen_fdt = fdt ? fdt_choose(fdt, size, chosen, err) : NULL;
    if (fdt && !chosen_fdt)
        free(fdt);
    return chosen_fdt;
}

bool bare_dump_fdt(const struct bare_options *o, const char *path, struct error *err)
{
    size_t size;
    const struct phys all = {.base = o->machine->memory->base, .size = o->machine->memory->size};
    const struct phys memory = tasks_program_memory(o->machine->tree, o->firmware, &all);
    void *fdt = make_fdt(o, &memory, &(struct fdt_chosen){.arguments = o->append}, &size, err);
    if (!fdt)
        return false;
    if (strcmp(path, "-") == 0) {
        bool written = fwrite(fdt, 1, size, stdout) == size && fflush(stdout) == 0;
        free(fdt);
        return written ||
               error_set(err, "--dump-dtb: standard output cannot be written: %s", strerror(errno));
    }
    struct output *out = output_open(path, err);
    if (out)
        (void)fwrite(fdt, 1, size, output_stream(out));
    free(fdt);
    return (out && output_keep(out, err)) || error_prefix(err, "--dump-dtb");
}

/* Stores the device tree at the highest free place in memory. */
static bool load_fdt(const struct bare_options *o, const struct phys *memory, const struct image_map *map,
                     const struct fdt_chosen *chosen, uint64_t *address, struct error *err)
{
    size_t size;
    void *fdt = make_fdt(o, memory, chosen, &size, err);
    if (!fdt)
        return false;
    bool placed = image_place(map, memory, size, FDT_ALIGN, address) ||
                  image_place(map, memory, size, FDT_ALIGN_MIN, address);
    if (placed)
        (void)bytes_write(&(struct bytes){memory, NULL}, *address, fdt, size);
    free(fdt);
    return placed || error_set(err,
                               "memory.size: the loaded files leave no room for the device tree of %zu bytes "
                               "in the memory 0x%" PRIx64 "-0x%" PRIx64 "; enlarge memory.size",
                               size, memory->base, memory->base + memory->size - 1);
}

/* Keeps files and the device tree out of memory that belongs to a mechanism. */
static void reserve(const struct bare_options *o, struct image_map *map)
{
    struct elf_range range;
    const char *part = machine_reserved(o->machine, &range.first, &range.end);
    if (part)
        map->ranges[map->count++] = (struct image_range){part, range};
}

/* Loads the initial file system below the device tree's place. */
static bool load_initrd(const struct bare_options *o, const struct bytes *bytes, struct image_map *map,
                        struct fdt_chosen *chosen, struct error *err)
{
    uint64_t size = 0;
    if (!o->initrd)
        return true;
    if (!image_size(o->initrd, &size, err))
        return error_prefix(err, "--initrd");
    if (size == 0 || !image_place(map, bytes->memory, size, INITRD_ALIGN, &chosen->initrd_first))
        return error_set(err, "--initrd: %s: its %" PRIu64 " bytes %s", o->initrd, size,
                         size ? "have no room beside the other files; enlarge memory.size"
                              : "are no file system; give a cpio archive or a disk image");
    chosen->initrd_end = chosen->initrd_first + size;
    return image_load_raw(o->initrd, chosen->initrd_first, bytes, map, err) || error_prefix(err, "--initrd");
}

bool bare_load(const struct bare_options *o, const struct bytes *bytes, struct rom_boot *boot,
               uint64_t *program_end, struct error *err)
{
    const struct phys *memory = bytes->memory;
    struct image_map map = {0};
    struct fdt_chosen chosen = {.arguments = o->append};
    uint64_t end;
    *boot = (struct rom_boot){.start = memory->base, .next_mode = PRIV_S};
    reserve(o, &map);
    if (o->kernel && !image_load(o->kernel, memory->base + KERNEL_OFFSET, ELF_PHYSICAL, bytes, &map,
                                 &boot->next, &end, err))
        return error_prefix(err, "--kernel");
    if (o->bios && !image_load(o->bios, memory->base, ELF_MOVABLE, bytes, &map, &boot->start, &end, err))
        return error_prefix(err, "--bios");
    if (o->program &&
        !image_load(o->program, memory->base, ELF_PHYSICAL, bytes, &map, &boot->start, program_end, err))
        return false;
    return load_initrd(o, bytes, &map, &chosen, err) && load_fdt(o, memory, &map, &chosen, &boot->fdt, err);
}

/* Writes the words of the signature region in RISCOF's format: one word of 8 hexadecimal digits per line. */
bool bare_write_signature(const struct bare_options *o, const struct bytes *bytes, struct error *err)
{
    uint64_t begin, end;
    if (!o->signature)
        return true;
    const char *file = o->program ? o->program : o->bios;
    if (!file)
        return error_set(err, "--signature: the symbols are in the program's file; give it beside --restore");
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
