#include "emu/debug/core_dump.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"

enum { EF_RISCV_DOUBLE_RVC = 0x5 };

/* Linux's struct elf_prstatus and its floating-point registers on RV64 (arch/riscv/include/uapi/asm/ptrace.h). */
struct status {
    int32_t signal, code, error;
    int16_t current, unused;
    uint64_t pending, held;
    int32_t thread, parent, group, session;
    uint64_t times[8];
    uint64_t pc, x[31];
    int32_t valid, padding;
};
_Static_assert(sizeof(struct status) == 376, "as in the kernel");

struct floats {
    uint64_t f[32];
    uint32_t fcsr, padding;
};

struct note {
    Elf64_Nhdr header;
    char name[8]; /* "CORE" */
};

/* The notes of a thread, which are not aligned to more than 4 bytes. */
enum { NOTES_SIZE = 2 * sizeof(struct note) + sizeof(struct status) + sizeof(struct floats) };

/* Address ranges of consecutive pages that exist, ascending. */
struct runs {
    struct core_range *list;
    size_t count;
};

static void add_runs(struct runs *runs, const struct core_dump *dump, const struct core_range *range)
{
    uint8_t page[CORE_DUMP_PAGE];
    for (uint64_t at = range->first; at < range->end; at += CORE_DUMP_PAGE) {
        if (!dump->read(dump->context, at, page))
            continue;
        if (runs->count == 0 || runs->list[runs->count - 1].end != at) {
            if ((runs->count & (runs->count - 1)) == 0) /* twice as much room */
                runs->list = alloc_resize(runs->list, (2 * runs->count + 1) * sizeof *runs->list);
            runs->list[runs->count++] = (struct core_range){at, at};
        }
        runs->list[runs->count - 1].end = at + CORE_DUMP_PAGE;
    }
}

static void write_note(FILE *out, unsigned type, const void *content, size_t size)
{
    const struct note note = {{sizeof "CORE", (Elf64_Word)size, type}, "CORE"};
    (void)fwrite(&note, sizeof note, 1, out);
    (void)fwrite(content, size, 1, out);
}

static void write_notes(FILE *out, int signal, const struct core_thread *thread)
{
    struct status status = {.signal = signal,
                            .current = (int16_t)signal,
                            .thread = (int32_t)thread->number,
                            .pc = thread->pc,
                            .valid = 1};
    struct floats floats = {.fcsr = thread->fcsr};
    memcpy(status.x, thread->x + 1, sizeof status.x);
    memcpy(floats.f, thread->f, sizeof floats.f);
    write_note(out, NT_PRSTATUS, &status, sizeof status);
    write_note(out, NT_FPREGSET, &floats, sizeof floats);
}

/* Returns whether the file's header has no room for the number of program headers; section header 0 then holds it (extended
 * numbering, as Linux writes it). */
static bool is_extended(const struct runs *runs)
{
    return runs->count + 1 >= PN_XNUM;
}

static uint64_t headers_size(const struct runs *runs)
{
    return sizeof(Elf64_Ehdr) + (runs->count + 1) * sizeof(Elf64_Phdr) +
           (is_extended(runs) ? sizeof(Elf64_Shdr) : 0);
}

static void write_headers(FILE *out, const struct runs *runs, uint64_t notes_size, uint64_t data)
{
    const bool extended = is_extended(runs);
    const Elf64_Ehdr file = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_CORE,
        .e_machine = EM_RISCV,
        .e_version = EV_CURRENT,
        .e_phoff = sizeof file,
        .e_flags = EF_RISCV_DOUBLE_RVC,
        .e_ehsize = sizeof file,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = extended ? PN_XNUM : (Elf64_Half)(runs->count + 1),
        .e_shoff = extended ? headers_size(runs) - sizeof(Elf64_Shdr) : 0,
        .e_shentsize = extended ? sizeof(Elf64_Shdr) : 0,
        .e_shnum = extended};
    const Elf64_Shdr section = {.sh_type = SHT_NULL, .sh_info = (Elf64_Word)(runs->count + 1)};
    const Elf64_Phdr notes = {
        .p_type = PT_NOTE, .p_offset = headers_size(runs), .p_filesz = notes_size, .p_align = 4};
    (void)fwrite(&file, sizeof file, 1, out);
    (void)fwrite(&notes, sizeof notes, 1, out);
    for (size_t i = 0; i < runs->count; i++) {
        const uint64_t size = runs->list[i].end - runs->list[i].first;
        const Elf64_Phdr load = {.p_type = PT_LOAD,
                                 .p_flags = PF_R | PF_W | PF_X,
                                 .p_offset = data,
                                 .p_vaddr = runs->list[i].first,
                                 .p_filesz = size,
                                 .p_memsz = size,
                                 .p_align = CORE_DUMP_PAGE};
        (void)fwrite(&load, sizeof load, 1, out);
        data += size;
    }
    if (extended)
        (void)fwrite(&section, sizeof section, 1, out);
}

static bool is_zero(const uint8_t page[CORE_DUMP_PAGE])
{
    return page[0] == 0 && memcmp(page, page + 1, CORE_DUMP_PAGE - 1) == 0;
}

/* Writes the pages at the file's offset `data`. Skips pages of zeros, except the last page, which gives the file its length.
 * Returns false with errno set if the file cannot be positioned. */
static bool write_pages(FILE *out, const struct core_dump *dump, const struct runs *runs, uint64_t data)
{
    uint8_t page[CORE_DUMP_PAGE];
    for (size_t i = 0; i < runs->count; i++)
        for (uint64_t at = runs->list[i].first; at < runs->list[i].end;
             at += CORE_DUMP_PAGE, data += CORE_DUMP_PAGE) {
            const bool last = i + 1 == runs->count && at + CORE_DUMP_PAGE == runs->list[i].end;
            if (!dump->read(dump->context, at, page) || (is_zero(page) && !last))
                continue;
            if (fseeko(out, (off_t)data, SEEK_SET) != 0)
                return false;
            (void)fwrite(page, sizeof page, 1, out);
        }
    return true;
}

bool core_dump_write(FILE *out, const struct core_dump *dump)
{
    struct runs runs = {NULL, 0};
    for (size_t i = 0; i < dump->range_count; i++)
        add_runs(&runs, dump, &dump->ranges[i]);
    const uint64_t notes = dump->thread_count * NOTES_SIZE, end = headers_size(&runs) + notes,
                   data = (end + CORE_DUMP_PAGE - 1) / CORE_DUMP_PAGE * CORE_DUMP_PAGE;
    write_headers(out, &runs, notes, data);
    for (size_t i = 0; i < dump->thread_count; i++)
        write_notes(out, dump->signal, &dump->threads[i]);
    const bool seeks = fseeko(out, (off_t)data, SEEK_SET) == 0 && write_pages(out, dump, &runs, data);
    free(runs.list);
    return seeks;
}
