#include "emu/cmd/code/program.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/analysis/convention.h"
#include "emu/io/output.h"
#include "emu/sim/alloc.h"

bool program_fetch(void *context, uint64_t pc, uint32_t *bits)
{
    const struct program *p = context;
    GElf_Phdr segment;
    for (size_t i = 0; i < p->segments; i++) {
        if (!gelf_getphdr(p->elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
            !(segment.p_flags & PF_X) || pc - segment.p_vaddr >= segment.p_filesz ||
            segment.p_offset > p->size || segment.p_filesz > p->size - segment.p_offset)
            continue;
        uint64_t at = pc - segment.p_vaddr, room = segment.p_filesz - at;
        *bits = 0;
        if (room < 2)
            return false;
        memcpy(bits, p->bytes + segment.p_offset + at, room < 4 ? 2 : 4);
        return true;
    }
    return false;
}

/* Reads the file's bytes. */
static bool read_bytes(struct program *p, const char *path, struct error *err)
{
    struct stat st;
    FILE *file = fopen(path, "re");
    if (!file)
        return error_set(err, "cannot open: %s", strerror(errno));
    bool regular = fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode);
    p->size = regular ? (size_t)st.st_size : 0;
    p->bytes = alloc(p->size + 1, 1);
    bool whole = fread(p->bytes, 1, p->size, file) == p->size;
    (void)fclose(file);
    if (!regular)
        return error_set(err, "is not a regular file; a program is an ELF file");
    return whole || error_set(err, "cannot be read");
}

bool program_open(struct program *p, const char *path, struct error *err)
{
    GElf_Ehdr header;
    *p = (struct program){.path = path};
    if (!read_bytes(p, path, err))
        return false;
    p->symbols = symbols_new(path);
    p->elf = symbols_elf(p->symbols);
    if (!p->elf || elf_kind(p->elf) != ELF_K_ELF || !gelf_getehdr(p->elf, &header))
        return error_set(err, "is not an ELF file");
    if (header.e_machine != EM_RISCV || gelf_getclass(p->elf) != ELFCLASS64)
        return error_set(err, "is not a program for 64-bit RISC-V");
    return elf_getphdrnum(p->elf, &p->segments) == 0 || error_set(err, "cannot be read: %s", elf_errmsg(-1));
}

void program_close(struct program *p)
{
    free(p->entries);
    free(p->bytes);
    symbols_free(p->symbols);
}

static void add_entry(struct program *p, uint64_t pc)
{
    if (p->count == p->room) {
        p->room = p->room ? 2 * p->room : 64;
        p->entries = alloc_resize(p->entries, p->room * sizeof *p->entries);
    }
    p->entries[p->count++] = pc;
}

void program_each_symbol(struct program *p,
                         void (*visit)(struct program *p, const char *name, const GElf_Sym *symbol,
                                       void *context),
                         void *context)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    GElf_Sym symbol;
    while ((section = elf_nextscn(p->elf, section))) {
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        for (size_t i = 0; data && gelf_getsym(data, (int)i, &symbol); i++) {
            const char *name = elf_strptr(p->elf, header.sh_link, symbol.st_name);
            if (symbol.st_shndx != SHN_UNDEF && name)
                visit(p, name, &symbol, context);
        }
    }
}

bool program_is_constant(const struct program *p, uint64_t address)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    while ((section = elf_nextscn(p->elf, section)))
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            address - header.sh_addr < header.sh_size)
            return !(header.sh_flags & SHF_WRITE);
    return false;
}

/* Adds functions: all, or those of the name that is the context. */
static void add_function(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    if (GELF_ST_TYPE(symbol->st_info) == STT_FUNC && (!context || strcmp(name, context) == 0))
        add_entry(p, symbol->st_value);
}

static void note_enter(struct program *p, const char *name, const GElf_Sym *symbol, void *context)
{
    (void)p;
    if (strcmp(name, "croft_simt_enter") == 0)
        *(uint64_t *)context = symbol->st_value;
}

/* Adds the entries of kernels: places that call croft_simt_enter() by t0 (isa/include/croft/simt.h). */
static void add_kernels(struct program *p, const struct decoder *decoder)
{
    uint64_t enter = 0;
    GElf_Phdr segment;
    uint32_t bits;
    program_each_symbol(p, note_enter, &enter);
    for (size_t i = 0; enter && i < p->segments; i++) {
        if (!gelf_getphdr(p->elf, (int)i, &segment) || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        for (uint64_t at = 0; at + 4 <= segment.p_filesz && program_fetch(p, segment.p_vaddr + at, &bits);
             at += 2) {
            struct insn insn = decode(decoder, bits);
            uint64_t pc = segment.p_vaddr + at;
            if (insn.id == INSN_jal && insn.rd == T0 && pc + (uint64_t)(int64_t)insn.imm == enter)
                add_entry(p, pc);
        }
    }
}

bool program_launches(const char *path)
{
    struct program program;
    struct error ignored;
    struct decoder *decoder = decoder_new();
    bool found = false;
    if (program_open(&program, path, &ignored)) {
        add_kernels(&program, decoder);
        found = program.count > 0;
    }
    program_close(&program);
    decoder_free(decoder);
    return found;
}

bool program_find_entries(struct program *p, const char *symbol, bool all, const struct decoder *decoder,
                          struct error *err)
{
    GElf_Ehdr header;
    if (symbol) {
        program_each_symbol(p, add_function, (void *)(uintptr_t)symbol);
        return p->count > 0 || error_set(err, "has no function '%s'", symbol);
    }
    if (!all)
        add_kernels(p, decoder);
    p->kernels = p->count > 0;
    if (p->count == 0)
        program_each_symbol(p, add_function, NULL);
    if (p->count == 0 && gelf_getehdr(p->elf, &header)) /* without symbols: what the program starts with */
        add_entry(p, header.e_entry);
    return true;
}

/* Adds a section to the file's bytes: the section's bytes, names and headers go to the end. */
static uint8_t *with_section(const struct program *p, const char *name, const uint8_t *table,
                             size_t table_size, size_t *size, struct error *err)
{
    Elf64_Ehdr header;
    const size_t name_size = strlen(name) + 1;
    memcpy(&header, p->bytes, sizeof header);
    size_t sections = header.e_shnum, names_at = header.e_shstrndx;
    if (sections == 0 || names_at >= sections || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shoff > p->size || sections * sizeof(Elf64_Shdr) > p->size - header.e_shoff) {
        (void)error_set(err, "has no section table, or a broken one");
        return NULL;
    }
    Elf64_Shdr *headers = alloc(sections + 1, sizeof *headers);
    memcpy(headers, p->bytes + header.e_shoff, sections * sizeof *headers);
    Elf64_Shdr *names = &headers[names_at];
    if (names->sh_offset > p->size || names->sh_size > p->size - names->sh_offset) {
        (void)error_set(err, "has no names of sections");
        free(headers);
        return NULL;
    }
    size_t table_at = (p->size + 7) / 8 * 8, new_names = table_at + table_size;
    size_t headers_at = (new_names + names->sh_size + name_size + 7) / 8 * 8;
    *size = headers_at + (sections + 1) * sizeof *headers;
    uint8_t *bytes = alloc(*size, 1);
    memcpy(bytes, p->bytes, p->size);
    memcpy(bytes + table_at, table, table_size);
    memcpy(bytes + new_names, p->bytes + names->sh_offset, names->sh_size);
    memcpy(bytes + new_names + names->sh_size, name, name_size);
    headers[sections] = (Elf64_Shdr){.sh_name = (uint32_t)names->sh_size,
                                     .sh_type = SHT_PROGBITS,
                                     .sh_offset = table_at,
                                     .sh_size = table_size,
                                     .sh_addralign = 8};
    names->sh_offset = new_names;
    names->sh_size += name_size;
    memcpy(bytes + headers_at, headers, (sections + 1) * sizeof *headers);
    header.e_shoff = headers_at;
    header.e_shnum = (Elf64_Half)(sections + 1);
    memcpy(bytes, &header, sizeof header);
    free(headers);
    return bytes;
}

const uint8_t *program_section(const struct program *p, const char *wanted, size_t *size)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(p->elf, &names) != 0)
        return NULL;
    while ((section = elf_nextscn(p->elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(p->elf, names, header.sh_name) : NULL;
        bool inside = name && header.sh_offset <= p->size && header.sh_size <= p->size - header.sh_offset;
        *size = header.sh_size;
        if (inside && strcmp(name, wanted) == 0)
            return p->bytes + header.sh_offset;
    }
    return NULL;
}

static bool has_section(const struct program *p, const char *wanted)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(p->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(p->elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(p->elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

bool program_write(const struct program *p, const char *output, const char *name, const uint8_t *section,
                   size_t section_size, struct error *err)
{
    struct stat st;
    size_t size = 0;
    if (has_section(p, name))
        return error_set(err, "has a section %s already; give the program as the compiler made it", name);
    uint8_t *bytes = with_section(p, name, section, section_size, &size, err);
    if (!bytes)
        return false;
    struct output *file = output_open(output, err);
    bool done = file && fwrite(bytes, 1, size, output_stream(file)) == size;
    if (file && !done) {
        (void)error_set(err, "writing '%s' failed: %s", output, strerror(errno));
        output_drop(file);
    }
    free(bytes);
    if (!done || !output_keep(file, err))
        return false;
    if (stat(p->path, &st) == 0)
        (void)chmod(output, st.st_mode & 07777);
    return true;
}
