#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/analysis/candidate_table.h"
#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/paths.h"
#include "emu/debug/symbols.h"
#include "emu/machine/machine.h"
#include "emu/mem/cache.h"
#include "emu/sim/alloc.h"
#include "emu/simt/simt.h"
#include "isa/decode.h"

enum { JSON, ALL, SYMBOL, MACHINE, LINE, ADDRESS, MISSES, COALESCED, MOST, OUTPUT };

static const struct option_row rows[] = {
    [JSON] = {"json", 'j', NULL, "print JSON, with all that is known of each block"},
    [ALL] = {"all", 'a', NULL, "look at all functions, not only at what kernels call"},
    [SYMBOL] = {"symbol", 's', "NAME", "look at this function, and at what it calls"},
    [MACHINE] = {"machine", 'm', "NAME|FILE",
                 "take threads per warp and bytes of a line from its multiprocessors"},
    [LINE] = {"line", 0, "BYTES", "bytes of a cache line (default the machine's, or 128)"},
    [ADDRESS] = {"address", 0, "BYTES", "bytes of an address (default 8; the paper's GPU: 4)"},
    [MISSES] = {"misses", 0, "PERCENT", "loads that miss (default 50)"},
    [COALESCED] = {"coalesced", 0, "LINES", "lines of a warp's load or store (default 1)"},
    [MOST] = {"most", 0, "COUNT", "most blocks, 1 to 40 (default 40)"},
    [OUTPUT] = {"output", 'o', "FILE",
                "write the program with the table as section " CANDIDATE_SECTION " to FILE"},
};

static const struct option_set interface = {
    .command = "croft candidates",
    .synopsis = "[options] PROGRAM",
    .summary = "Finds blocks of code that save bytes on the links if they are executed near memory.",
    .example = "croft candidates --json kmeans",
    .notes =
        "The blocks are those of Transparent Offloading and Mapping (ISCA 2016), section 3.1; isa/MANUAL.md "
        "says\n"
        "how its equations are applied to RV64. By default, functions are looked at that kernels of the\n"
        "program call; if there are no kernels, all.\n"
        "Machines do not offload blocks yet, and `croft cc` has no option --offload that would mark them by\n"
        "hints (tom.begin). The table is matched by address; a program with it runs as without it.\n",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The parsed command line. */
struct request {
    const char *path, *symbol, *output, *machine;
    bool json, all;
    uint64_t lanes, line, address, misses, coalesced, most;
};

/* A program's file. */
struct program {
    const char *path;
    struct symbols *symbols;
    Elf *elf;
    uint8_t *bytes;
    size_t size, segments;
    uint64_t *entries;
    size_t count, room;
};

/* Reading the program. */

static bool fetch(void *context, uint64_t pc, uint32_t *bits)
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

static bool open_program(struct program *p, const char *path, struct error *err)
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

static void close_program(struct program *p)
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

static void each_function(struct program *p,
                          void (*visit)(struct program *p, const char *name, uint64_t pc, void *context),
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
            if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && name)
                visit(p, name, symbol.st_value, context);
        }
    }
}

static void add_any(struct program *p, const char *name, uint64_t pc, void *context)
{
    (void)name, (void)context;
    add_entry(p, pc);
}

static void add_named(struct program *p, const char *name, uint64_t pc, void *context)
{
    if (strcmp(name, context) == 0)
        add_entry(p, pc);
}

static void note_enter(struct program *p, const char *name, uint64_t pc, void *context)
{
    (void)p;
    if (strcmp(name, "croft_simt_enter") == 0)
        *(uint64_t *)context = pc;
}

/* Adds the entries of kernels: places that call croft_simt_enter() by t0 (isa/include/croft/simt.h). */
static void add_kernels(struct program *p, const struct decoder *decoder)
{
    uint64_t enter = 0;
    GElf_Phdr segment;
    uint32_t bits;
    each_function(p, note_enter, &enter);
    for (size_t i = 0; enter && i < p->segments; i++) {
        if (!gelf_getphdr(p->elf, (int)i, &segment) || segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        for (uint64_t at = 0; at + 4 <= segment.p_filesz && fetch(p, segment.p_vaddr + at, &bits); at += 2) {
            struct insn insn = decode(decoder, bits);
            uint64_t pc = segment.p_vaddr + at;
            if (insn.id == INSN_jal && insn.rd == T0 && pc + (uint64_t)(int64_t)insn.imm == enter)
                add_entry(p, pc);
        }
    }
}

static bool find_entries(struct program *p, const struct request *r, const struct decoder *decoder,
                         struct error *err)
{
    GElf_Ehdr header;
    if (r->symbol) {
        each_function(p, add_named, (void *)(uintptr_t)r->symbol);
        return p->count > 0 || error_set(err, "has no function '%s'", r->symbol);
    }
    if (!r->all)
        add_kernels(p, decoder);
    if (p->count == 0)
        each_function(p, add_any, NULL);
    if (p->count == 0 && gelf_getehdr(p->elf, &header)) /* without symbols: what the program starts with */
        add_entry(p, header.e_entry);
    return true;
}

/* Writing the table. */

static void print_line(const struct program *p, uint64_t pc, char *text, size_t size)
{
    if (!symbols_line(p->symbols, pc, text, size))
        (void)snprintf(text, size, "-");
}

static const char *register_name(unsigned reg, char text[8])
{
    (void)snprintf(text, 8, "%c%u", reg < 32 ? 'x' : 'f', reg % 32);
    return text;
}

/* Writes the condition as text, or "always". */
static void describe_condition(const struct candidate *c, char *text, size_t size)
{
    const struct candidate_entry entry = candidate_table_entry(c);
    if (!c->threshold) {
        (void)snprintf(text, size, "always");
        return;
    }
    char shift[16] = "";
    if (entry.shift)
        (void)snprintf(shift, sizeof shift, " >> %u", entry.shift);
    (void)snprintf(text, size, "(x%u - x%u)%s >= %" PRId64, entry.minuend, entry.subtrahend, shift,
                   entry.threshold);
}

static const char *tag_text(unsigned tag)
{
    static const char *const texts[] = {"-", "TX", "RX", "TX RX"};
    return texts[tag & 3];
}

static void print_table(const struct program *p, const struct candidates *found)
{
    char line[SYMBOLS_TEXT], condition[64], range[40];
    printf("%-3s %-25s %-28s %-22s %5s %5s %4s %4s %10s %-5s %s\n", "no", "addresses", "source", "function",
           "N_LD", "N_ST", "TX", "RX", "change", "saves", "offload if");
    for (size_t i = 0; i < found->count; i++) {
        const struct candidate *c = &found->list[i];
        uint64_t offset;
        const char *function = symbols_name(p->symbols, c->begin, &offset);
        (void)snprintf(range, sizeof range, "0x%" PRIx64 "-0x%" PRIx64, c->begin, c->end);
        print_line(p, c->begin, line, sizeof line);
        describe_condition(c, condition, sizeof condition);
        printf("%-3zu %-25s %-28s %-22s %5g %5g %4u %4u %10.2f %-5s %s\n", i, range, line,
               function ? function : "-", c->loads, c->stores, c->reg_tx, c->reg_rx, c->tx + c->rx,
               tag_text(c->tag), condition);
    }
}

static json_t *registers(uint64_t set)
{
    json_t *list = json_array();
    char text[8];
    for (unsigned reg = 0; reg < REGISTERS; reg++)
        if (set >> reg & 1)
            (void)json_array_append_new(list, json_string(register_name(reg, text)));
    return list;
}

static json_t *describe(const struct program *p, const struct candidate *c)
{
    static const char *const kinds[] = {
        [TRIP_UNKNOWN] = "unknown", [TRIP_STATIC] = "static", [TRIP_KNOWN] = "known"};
    char line[SYMBOLS_TEXT], condition[64];
    uint64_t offset;
    const char *function = symbols_name(p->symbols, c->begin, &offset);
    print_line(p, c->begin, line, sizeof line);
    describe_condition(c, condition, sizeof condition);
    json_t *block = json_pack("{s:I, s:I, s:s, s:s?, s:f, s:f, s:I, s:I, s:f, s:f, s:b, s:b, s:s}", "begin",
                              (json_int_t)c->begin, "end", (json_int_t)c->end, "source", line, "function",
                              function, "loads", c->loads, "stores", c->stores, "reg_tx",
                              (json_int_t)c->reg_tx, "reg_rx", (json_int_t)c->reg_rx, "tx", c->tx, "rx",
                              c->rx, "saves_tx", (c->tag & CANDIDATE_SAVES_TX) != 0, "saves_rx",
                              (c->tag & CANDIDATE_SAVES_RX) != 0, "condition", condition);
    (void)json_object_set_new(block, "sent", registers(c->in));
    (void)json_object_set_new(block, "returned", registers(c->out));
    (void)json_object_set_new(block, "coordinates", json_integer(c->coordinates));
    (void)json_object_set_new(block, "floating_point", json_boolean(c->floats));
    (void)json_object_set_new(block, "instructions", json_integer(c->insns));
    (void)json_object_set_new(block, "stack_accesses", json_integer(c->stack));
    (void)json_object_set_new(block, "extensions", json_integer(c->extensions));
    (void)json_object_set_new(block, "rounds", json_string(kinds[c->trip.kind]));
    if (c->trip.kind == TRIP_STATIC)
        (void)json_object_set_new(block, "static_rounds", json_integer((json_int_t)c->trip.count));
    if (c->threshold)
        (void)json_object_set_new(block, "least_rounds", json_integer((json_int_t)c->threshold));
    return block;
}

static void print_json(const struct program *p, const struct candidate_model *model,
                       const struct candidates *found)
{
    json_t *list = json_array();
    for (size_t i = 0; i < found->count; i++)
        (void)json_array_append_new(list, describe(p, &found->list[i]));
    json_t *all = json_pack("{s:s, s:f, s:f, s:f, s:f, s:I, s:o}", "program", p->path, "warp", model->lanes,
                            "line_ratio", model->line_ratio, "coalesced", model->coalesced, "load_misses",
                            model->load_misses, "left_out", (json_int_t)found->left_out, "candidates", list);
    (void)json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    printf("\n");
    json_decref(all);
}

/* Adds the table to the file's bytes as a new section: the section's bytes, names and headers go to the end. */
static uint8_t *with_section(const struct program *p, const uint8_t *table, size_t table_size, size_t *size,
                             struct error *err)
{
    Elf64_Ehdr header;
    static const char name[] = CANDIDATE_SECTION;
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
    size_t headers_at = (new_names + names->sh_size + sizeof name + 7) / 8 * 8;
    *size = headers_at + (sections + 1) * sizeof *headers;
    uint8_t *bytes = alloc(*size, 1);
    memcpy(bytes, p->bytes, p->size);
    memcpy(bytes + table_at, table, table_size);
    memcpy(bytes + new_names, p->bytes + names->sh_offset, names->sh_size);
    memcpy(bytes + new_names + names->sh_size, name, sizeof name);
    headers[sections] = (Elf64_Shdr){.sh_name = (uint32_t)names->sh_size,
                                     .sh_type = SHT_PROGBITS,
                                     .sh_offset = table_at,
                                     .sh_size = table_size,
                                     .sh_addralign = 8};
    names->sh_offset = new_names;
    names->sh_size += sizeof name;
    memcpy(bytes + headers_at, headers, (sections + 1) * sizeof *headers);
    header.e_shoff = headers_at;
    header.e_shnum = (Elf64_Half)(sections + 1);
    memcpy(bytes, &header, sizeof header);
    free(headers);
    return bytes;
}

static bool has_table(const struct program *p)
{
    size_t names;
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    if (elf_getshdrstrndx(p->elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(p->elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(p->elf, names, header.sh_name) : NULL;
        if (name && strcmp(name, CANDIDATE_SECTION) == 0)
            return true;
    }
    return false;
}

static bool write_program(const struct program *p, const char *output, const struct candidates *found,
                          struct error *err)
{
    struct stat st;
    size_t table_size, size = 0;
    if (has_table(p))
        return error_set(err, "has a section " CANDIDATE_SECTION
                              " already; give the program as the compiler made it");
    uint8_t *table = candidate_table_write(found, &table_size);
    uint8_t *bytes = with_section(p, table, table_size, &size, err);
    free(table);
    if (!bytes)
        return false;
    FILE *file = fopen(output, "we");
    bool done = file && fwrite(bytes, 1, size, file) == size;
    if (file && fclose(file) != 0)
        done = false;
    free(bytes);
    if (!done)
        return error_set(err, "cannot write '%s': %s", output, strerror(errno));
    if (stat(p->path, &st) == 0)
        (void)chmod(output, st.st_mode & 07777);
    return true;
}

static bool find_candidates(struct program *p, const struct request *r, struct error *err)
{
    const struct candidate_model model = {.lanes = (double)r->lanes,
                                          .line_ratio = (double)r->line / (double)r->address,
                                          .coalesced = (double)r->coalesced,
                                          .load_misses = (double)r->misses / 100};
    struct decoder *decoder = decoder_new();
    bool done = find_entries(p, r, decoder, err);
    if (done) {
        struct cfg cfg =
            cfg_build(decoder, &(struct reach_code){fetch, p}, p->entries, p->count, &candidate_options);
        struct candidates found = candidates_of(&cfg, &model, r->most);
        done = !cfg.too_large || error_set(err, "has more than %d reachable instructions", REACH_INSNS);
        if (done && r->json)
            print_json(p, &model, &found);
        else if (done)
            print_table(p, &found);
        if (done && found.left_out)
            fprintf(
                stderr,
                "croft candidates: %s: warning: %zu blocks more would save bytes, but the table has %" PRIu64
                " entries (--most)\n",
                p->path, found.left_out, r->most);
        done = done && (!r->output || write_program(p, r->output, &found, err));
        candidates_free(&found);
        cfg_free(&cfg);
    }
    decoder_free(decoder);
    return done;
}

/* Parses a number from `least` to `most`. */
static int number(int option, const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long parsed = strtoull(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || parsed < least || parsed > most)
        return options_usage_error(&interface,
                                   "--%s is '%s'; it must be a number from %" PRIu64 " to %" PRIu64,
                                   rows[option].name, text, least, most);
    *value = parsed;
    return OPTIONS_TAKEN;
}

static int take(void *context, int option, const char *value)
{
    struct request *r = context;
    switch (option) {
    case JSON: r->json = true; break;
    case ALL: r->all = true; break;
    case SYMBOL: r->symbol = value; break;
    case OUTPUT: r->output = value; break;
    case MACHINE: r->machine = value; break;
    case LINE: return number(option, value, 16, 4096, &r->line);
    case ADDRESS: return number(option, value, 1, 16, &r->address);
    case MISSES: return number(option, value, 0, 100, &r->misses);
    case COALESCED: return number(option, value, 1, 32, &r->coalesced);
    case MOST: return number(option, value, 1, CANDIDATE_ENTRIES, &r->most);
    default:
        if (r->path)
            return options_usage_error(&interface, "takes one program, but '%s' was given, too", value);
        r->path = value;
    }
    return OPTIONS_TAKEN;
}

/* Takes what the command line does not say from the machine's first multiprocessors. */
static bool ask_machine(struct request *r, struct error *err)
{
    char folder[PATH_MAX];
    struct machine_config machine;
    const struct cache_config *l1 = NULL;
    if (!paths_share("machines", folder, sizeof folder, err) ||
        !machine_load(&machine, r->machine, folder, NULL, 0, err))
        return false;
    for (const struct instance *i = tree_next(machine.tree, NULL); i && !l1; i = tree_next(machine.tree, i))
        if (i->kind == &cache_kind && i->parent && i->parent->kind == &simt_kind &&
            i->parent->config == machine.simt)
            l1 = i->config;
    if (l1) {
        r->lanes = machine.simt->width;
        r->line = r->line ? r->line : l1->line;
    } else {
        (void)error_set(err, "machine '%s' has no multiprocessors with caches; gpu has", r->machine);
    }
    machine_free(&machine);
    return l1 != NULL;
}

static bool answer(struct program *program, struct request *r, struct error *err)
{
    if (r->machine && !ask_machine(r, err))
        return false;
    r->line = r->line ? r->line : 128;
    return open_program(program, r->path, err) && find_candidates(program, r, err);
}

int cmd_candidates(int argc, char **argv)
{
    struct request r = {.lanes = 32, .address = 8, .misses = 50, .coalesced = 1, .most = CANDIDATE_ENTRIES};
    struct program program = {0};
    struct error err;
    int status = options_parse(&interface, argc, argv, take, &r);
    if (status != OPTIONS_TAKEN)
        return status;
    if (!r.path)
        return options_usage_error(&interface, "no program given");
    bool done = answer(&program, &r, &err);
    if (!done)
        fprintf(stderr, "croft candidates: %s: %s\n", r.path, err.text);
    close_program(&program);
    return done ? 0 : 1;
}
