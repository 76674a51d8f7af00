#include "emu/debug/symbols.h"

#include <assert.h>
#include <dwarf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/sim/alloc.h"

/* Addresses [first, end) of code. */
struct code_range {
    uint64_t first, end;
};

struct symbol {
    uint64_t address, size;
    const char *name; /* points into the ELF file's string table */
    uint64_t limit;   /* end of the symbol's section */
    unsigned rank;    /* of several symbols at one address, the lowest rank wins */
    unsigned order;   /* index in the symbol table */
};

struct symbols {
    char *path;
    uint64_t bias;
    bool opened;
    int fd;
    Elf *elf;
    Dwarf *dwarf;
    struct symbol *table; /* sorted by address, one per address */
    size_t count;
    struct code_range *code;
    size_t code_count;
};

struct symbols *symbols_new(const char *path)
{
    struct symbols *s = alloc(1, sizeof *s);
    char *copy = alloc_text(path);
    s->path = copy;
    s->fd = -1;
    return s;
}

void symbols_free(struct symbols *s)
{
    if (!s)
        return;
    if (s->dwarf)
        (void)dwarf_end(s->dwarf);
    (void)elf_end(s->elf);
    if (s->fd >= 0)
        (void)close(s->fd);
    free(s->table);
    free(s->code);
    free(s->path);
    free(s);
}

void symbols_move(struct symbols *s, uint64_t bias)
{
    s->bias = bias;
}

uint64_t symbols_bias(const struct symbols *s)
{
    return s->bias;
}

static void add_code(struct symbols *s, uint64_t first, uint64_t size)
{
    struct code_range *grown = alloc_resize(s->code, (s->code_count + 1) * sizeof *grown);
    s->code = grown;
    s->code[s->code_count++] =
        (struct code_range){.first = first, .end = first + size < first ? UINT64_MAX : first + size};
}

static void find_code(struct symbols *s)
{
    Elf_Scn *section = NULL;
    GElf_Shdr sh;
    while ((section = elf_nextscn(s->elf, section))) {
        if (gelf_getshdr(section, &sh) && (sh.sh_flags & SHF_EXECINSTR) && sh.sh_size > 0)
            add_code(s, sh.sh_addr, sh.sh_size);
    }
    size_t headers = 0;
    if (s->code_count > 0 || elf_getphdrnum(s->elf, &headers) != 0)
        return;
    for (size_t i = 0; i < headers; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(s->elf, (int)i, &p) && p.p_type == PT_LOAD && (p.p_flags & PF_X))
            add_code(s, p.p_vaddr, p.p_memsz);
    }
}

static const struct code_range *code_range_at(const struct symbols *s, uint64_t address)
{
    for (size_t i = 0; i < s->code_count; i++) {
        if (address >= s->code[i].first && address < s->code[i].end)
            return &s->code[i];
    }
    return NULL;
}

/* Ranks functions before labels, and global names before weak and local ones. */
static unsigned symbol_rank(const GElf_Sym *sym)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    unsigned rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
    return GELF_ST_TYPE(sym->st_info) == STT_FUNC ? rank : rank + 4;
}

static int compare_symbols(const void *left, const void *right)
{
    const struct symbol *a = left, *b = right;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Rejects mapping symbols ($x, $d) and assembler labels (.L12), which no programmer wrote. */
static bool is_name(const char *name)
{
    return name && name[0] != '\0' && name[0] != '$' && strncmp(name, ".L", 2) != 0;
}

static void read_symbols(struct symbols *s, Elf_Scn *section, const GElf_Shdr *sh)
{
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || sh->sh_entsize != sizeof(Elf64_Sym))
        return;
    size_t total = data->d_size / sizeof(Elf64_Sym);
    s->table = alloc(total ? total : 1, sizeof *s->table);
    for (size_t i = 0; i < total; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym))
            continue;
        unsigned type = GELF_ST_TYPE(sym.st_info);
        const char *name = elf_strptr(s->elf, sh->sh_link, sym.st_name);
        const struct code_range *range = code_range_at(s, sym.st_value);
        if ((type != STT_FUNC && type != STT_NOTYPE) || !range || !is_name(name) ||
            sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS)
            continue;
        s->table[s->count++] = (struct symbol){.address = sym.st_value,
                                               .size = sym.st_size,
                                               .name = name,
                                               .limit = range->end,
                                               .rank = symbol_rank(&sym),
                                               .order = (unsigned)i};
    }
}

static void sort_symbols(struct symbols *s)
{
    if (s->count == 0)
        return;
    qsort(s->table, s->count, sizeof *s->table, compare_symbols);
    size_t kept = 1;
    for (size_t i = 1; i < s->count; i++) {
        if (s->table[i].address != s->table[kept - 1].address)
            s->table[kept++] = s->table[i];
    }
    s->count = kept;
}

static void open_file(struct symbols *s)
{
    if (s->opened)
        return;
    s->opened = true;
    (void)elf_version(EV_CURRENT);
    s->fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    s->elf = s->fd < 0 ? NULL : elf_begin(s->fd, ELF_C_READ, NULL);
    if (!s->elf || elf_kind(s->elf) != ELF_K_ELF)
        return;
    find_code(s);
    Elf_Scn *section = NULL;
    GElf_Shdr sh;
    while (!s->table && (section = elf_nextscn(s->elf, section))) {
        if (gelf_getshdr(section, &sh) && sh.sh_type == SHT_SYMTAB)
            read_symbols(s, section, &sh);
    }
    sort_symbols(s);
    s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
}

Elf *symbols_elf(struct symbols *s)
{
    open_file(s);
    return s->elf;
}

Dwarf *symbols_dwarf(struct symbols *s)
{
    open_file(s);
    return s->dwarf;
}

void symbols_read_only(struct symbols *symbols, void (*segment)(void *context, uint64_t first, uint64_t last),
                       void *context)
{
    Elf *elf = symbols_elf(symbols);
    size_t count = 0;
    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD || !header.p_memsz ||
            (header.p_flags & PF_W))
            continue;
        const uint64_t first = header.p_vaddr + symbols->bias;
        segment(context, first, first + header.p_memsz - 1);
    }
}

bool symbols_is_code(struct symbols *s, uint64_t address)
{
    open_file(s);
    return code_range_at(s, address - s->bias) != NULL;
}

const char *symbols_name(struct symbols *s, uint64_t address, uint64_t *offset)
{
    open_file(s);
    address -= s->bias;
    size_t low = 0, high = s->count; /* the first symbol after address is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->table[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct symbol *found = &s->table[low - 1];
    if (address >= found->limit)
        return NULL;
    /* A label of size 0 takes the addresses after it, unless an earlier sized function still covers the
     * address. */
    for (size_t i = low - 1; found->size == 0 && i > 0 && low - i < 64; i--) {
        const struct symbol *earlier = &s->table[i - 1];
        if (earlier->size > 0 && address - earlier->address < earlier->size)
            found = earlier;
    }
    *offset = address - found->address;
    return found->name;
}

/* Finds the compilation unit whose code covers the address. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *unit)
{
    Dwarf_CU *cu = NULL;
    uint8_t type = 0;
    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, unit, NULL) == 0) {
        if (type == DW_UT_compile && dwarf_haspc(unit, address) == 1)
            return true;
    }
    return false;
}

/* Returns the path relative to the compilation folder, if the file lies in it. */
static const char *in_folder(Dwarf_Die *unit, const char *file)
{
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    const size_t length = folder ? strlen(folder) : 0;
    const bool inside = length > 0 && strncmp(file, folder, length) == 0 && file[length] == '/';
    return inside ? file + length + 1 : file;
}

bool symbols_line(struct symbols *s, uint64_t address, char *text, size_t size)
{
    open_file(s);
    address -= s->bias;
    Dwarf_Die unit;
    if (!s->dwarf || !find_unit(s->dwarf, address, &unit))
        return false;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
    int number = 0;
    if (!file || dwarf_lineno(line, &number) != 0 || number <= 0)
        return false;
    (void)snprintf(text, size, "%s:%d", in_folder(&unit, file), number);
    return true;
}

/* Writes "file:line" of a call if it is in `file`. */
static bool call_line(Dwarf_Die *unit, Dwarf_Die *call, const char *file, char *text, size_t size)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number, line;
    Dwarf_Files *files;
    size_t count;
    if (dwarf_tag(call) != DW_TAG_inlined_subroutine ||
        dwarf_formudata(dwarf_attr(call, DW_AT_call_file, &attribute), &number) != 0 ||
        dwarf_formudata(dwarf_attr(call, DW_AT_call_line, &attribute), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
        return false;
    const char *caller = dwarf_filesrc(files, (size_t)number, NULL, NULL);
    if (!caller || strcmp(caller, file) != 0)
        return false;
    (void)snprintf(text, size, "%s:%d", in_folder(unit, caller), (int)line);
    return true;
}

bool symbols_call_line(struct symbols *s, uint64_t address, char *text, size_t size)
{
    open_file(s);
    address -= s->bias;
    Dwarf_Die unit, *scopes = NULL, *around = NULL;
    if (!s->dwarf || !find_unit(s->dwarf, address, &unit))
        return false;
    Dwarf_Line *line = dwarf_getsrc_die(&unit, address);
    const char *own = line ? dwarf_linesrc(line, NULL, NULL) : NULL, *file = NULL;
    const int inner = own ? dwarf_getscopes(&unit, address, &scopes) : 0,
              count = inner > 0 ? dwarf_getscopes_die(&scopes[0], &around) : 0;
    for (int i = 0; i < count && !file; i++)
        if (dwarf_tag(&around[i]) == DW_TAG_subprogram)
            file = dwarf_decl_file(&around[i]);
    bool found = false;
    for (int i = 0; i < count && file && strcmp(file, own) != 0 && !found; i++)
        found = call_line(&unit, &around[i], file, text, size);
    free(scopes);
    free(around);
    return found;
}

/* Describes `address` with the symbol and line of the instruction at `lookup`. */
static const char *describe(struct symbols *s, uint64_t address, uint64_t lookup, char *text, size_t size)
{
    char line[SYMBOLS_TEXT];
    uint64_t offset = 0;
    const char *name = symbols_name(s, lookup, &offset);
    bool has_line = symbols_line(s, lookup, line, sizeof line);
    const char *before = has_line ? " (" : "", *after = has_line ? ")" : "";
    if (!has_line)
        line[0] = '\0';
    offset += address - lookup;
    if (name && offset)
        (void)snprintf(text, size, "%s+0x%" PRIx64 "%s%s%s", name, offset, before, line, after);
    else if (name)
        (void)snprintf(text, size, "%s%s%s%s", name, before, line, after);
    else
        (void)snprintf(text, size, "%s", has_line ? line : "no symbol");
    return text;
}

const char *symbols_describe(struct symbols *s, uint64_t address, char *text, size_t size)
{
    return describe(s, address, address, text, size);
}

const char *symbols_describe_return(struct symbols *s, uint64_t address, char *text, size_t size)
{
    return describe(s, address, address - 1, text, size);
}
