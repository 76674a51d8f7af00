#include "emu/env/loader/image.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_elf(FILE *file)
{
    char magic[SELFMAG];
    bool elf = fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, ELFMAG, SELFMAG) == 0;
    rewind(file);
    return elf;
}

/* Copies the rest of an open file to memory at `address`. Sets *end to the first address after it. */
static bool load_raw(FILE *file, const char *path, uint64_t address, const struct phys *memory, uint64_t *end,
                     struct error *err)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode))
        return error_set(err, "%s: not a regular file", path);
    uint64_t size = (uint64_t)info.st_size;
    uint8_t *bytes = phys_at(memory, address, size);
    if (!bytes)
        return error_set(err,
                         "%s: its %" PRIu64 " bytes do not fit at 0x%" PRIx64 "; memory is 0x%" PRIx64
                         " to 0x%" PRIx64,
                         path, size, address, memory->base, memory->base + memory->size - 1);
    if (fread(bytes, 1, size, file) != size)
        return error_set(err, "%s: reading failed: %s", path, strerror(errno));
    phys_note_store(memory, address, size);
    *end = address + size;
    return true;
}

/* Returns the first range of the map that overlaps `range`, or NULL. */
static const struct image_range *find_overlap(const struct image_map *map, struct elf_range range)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct image_range *old = &map->ranges[i];
        if (range.first < old->range.end && old->range.first < range.end)
            return old;
    }
    return NULL;
}

/* Adds the ranges of a file to the map. Fails if one overlaps an earlier file. */
static bool add_ranges(struct image_map *map, const char *path, const struct elf_range *ranges, size_t count,
                       struct error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct image_range *old = find_overlap(map, ranges[i]);
        if (old)
            return error_set(err,
                             "%s (0x%" PRIx64 "-0x%" PRIx64 ") overlaps %s (0x%" PRIx64 "-0x%" PRIx64
                             "); each file needs memory of its own, so link one of them elsewhere",
                             path, ranges[i].first, ranges[i].end - 1, old->path, old->range.first,
                             old->range.end - 1);
    }
    assert(count <= IMAGE_RANGES - map->count);
    for (size_t i = 0; i < count; i++)
        map->ranges[map->count++] = (struct image_range){path, ranges[i]};
    return true;
}

bool image_place(const struct image_map *map, const struct phys *memory, uint64_t size, uint64_t align,
                 uint64_t *address)
{
    uint64_t end = memory->base + memory->size;
    while (size <= end - memory->base) {
        uint64_t first = (end - size) & ~(align - 1);
        if (first < memory->base)
            return false;
        const struct image_range *old = find_overlap(map, (struct elf_range){first, first + size});
        if (!old) {
            *address = first;
            return true;
        }
        end = old->range.first;
    }
    return false;
}

bool image_size(const char *path, uint64_t *size, struct error *err)
{
    struct stat info;
    if (stat(path, &info) != 0)
        return error_set(err, "%s: %s", path, strerror(errno));
    *size = (uint64_t)info.st_size;
    return S_ISREG(info.st_mode) || error_set(err, "%s: not a regular file", path);
}

bool image_load_raw(const char *path, uint64_t address, const struct bytes *bytes, struct image_map *map,
                    struct error *err)
{
    uint64_t end = address;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    bool loaded = load_raw(file, path, address, bytes->memory, &end, err);
    (void)fclose(file);
    return loaded && add_ranges(map, path, &(struct elf_range){address, end}, end > address, err);
}

bool image_load(const char *path, uint64_t address, enum elf_address which, const struct bytes *bytes,
                struct image_map *map, uint64_t *entry, uint64_t *end, struct error *err)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return error_set(err, "%s: %s", path, strerror(errno));
    if (!is_elf(file)) {
        bool loaded = load_raw(file, path, address, bytes->memory, end, err);
        (void)fclose(file);
        *entry = address;
        return loaded && add_ranges(map, path, &(struct elf_range){address, *end}, *end > address, err);
    }
    (void)fclose(file);
    struct elf_program program;
    if (!elf_load(&program, path, which, bytes, err))
        return false;
    *entry = program.entry;
    *end = program.end;
    return add_ranges(map, path, program.ranges, program.range_count, err);
}

static bool find_in_table(Elf *elf, Elf_Scn *section, const char *name, uint64_t *value)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header) || header.sh_entsize == 0)
        return false;
    size_t count = header.sh_size / header.sh_entsize;
    for (size_t i = 0; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        const char *text =
            gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header.sh_link, symbol.st_name) : NULL;
        if (text && symbol.st_shndx != SHN_UNDEF && strcmp(text, name) == 0) {
            *value = symbol.st_value;
            return true;
        }
    }
    return false;
}

bool image_symbol(const char *path, const char *name, uint64_t *value)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    (void)elf_version(EV_CURRENT);
    Elf *elf = elf_begin(file, ELF_C_READ, NULL);
    bool found = false;
    for (Elf_Scn *section = NULL; elf && !found && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            found = find_in_table(elf, section, name, value);
    }
    (void)elf_end(elf);
    (void)close(file);
    return found;
}
