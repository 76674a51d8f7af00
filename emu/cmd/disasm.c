#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cmd/cmd.h"
#include "emu/cmd/options.h"
#include "emu/cmd/run/advice.h"
#include "emu/debug/symbols.h"
#include "emu/sim/error.h"
#include "isa/decode.h"
#include "isa/disasm.h"

enum { BITS, SYMBOL };

static const struct option_row rows[] = {
    [BITS] = {"bits", 'b', NULL, "the arguments are instructions as numbers (0x00c58533)"},
    [SYMBOL] = {"symbol", 's', "NAME", "print this function only"},
};

const struct option_set disasm_interface = {
    .command = "croft disasm",
    .synopsis = "[options] PROGRAM | --bits WORD...",
    .summary = "Prints the code of a program, or of single instructions, as text.",
    .example = "croft disasm --symbol main hello",
    .count = sizeof rows / sizeof rows[0],
    .rows = rows,
};

/* The state of a listing. */
struct listing {
    const struct decoder *decoder;
    struct symbols *symbols;
    const char *wanted; /* the only function to print; NULL: all */
    bool found;         /* something has been printed */
};

/* Prints ` <name+0x12>` for a branch or jump to pc + imm. */
static void print_target(const struct listing *l, const struct insn *insn, uint64_t pc)
{
    uint8_t format = insn_table[insn->id].format;
    uint64_t offset;
    if (insn->id == INSN_illegal || (format != FORMAT_B && format != FORMAT_J))
        return;
    const char *name = symbols_name(l->symbols, pc + (uint64_t)(int64_t)insn->imm, &offset);
    if (name && offset)
        printf(" <%s+0x%" PRIx64 ">", name, offset);
    else if (name)
        printf(" <%s>", name);
}

/* Prints the instruction at pc, of which `available` bytes exist. Returns its length. */
static uint64_t print_insn(struct listing *l, const uint8_t *bytes, uint64_t available, uint64_t pc)
{
    uint32_t bits = 0;
    char text[128];
    memcpy(&bits, bytes, available < 4 ? available : 4);
    if (available < 2 || ((bits & 3) == 3 && available < 4)) {
        printf("%12" PRIx64 ":\t%0*" PRIx32 "\t(cut off)\n", pc, (int)available * 2, bits);
        return available;
    }
    struct insn insn = decode(l->decoder, bits);
    disasm(&insn, pc, text, sizeof text);
    if (insn.length == 2)
        printf("%12" PRIx64 ":\t%04" PRIx32 "                \t%s", pc, bits & 0xffff, text);
    else
        printf("%12" PRIx64 ":\t%08" PRIx32 "          \t%s", pc, bits, text);
    print_target(l, &insn, pc);
    printf("\n");
    return insn.length;
}

static void print_section(struct listing *l, const char *name, uint64_t address, const uint8_t *bytes,
                          uint64_t size)
{
    bool shown = !l->wanted;
    if (shown)
        printf("\nDisassembly of section %s:\n", name);
    l->found = l->found || shown;
    for (uint64_t at = 0; at < size;) {
        uint64_t offset = 1;
        const char *symbol = symbols_name(l->symbols, address + at, &offset);
        if (l->wanted)
            shown = symbol && strcmp(symbol, l->wanted) == 0;
        if (shown && symbol && offset == 0)
            printf("\n%016" PRIx64 " <%s>:\n", address + at, symbol);
        l->found = l->found || shown;
        uint32_t low = bytes[at];
        if (shown)
            at += print_insn(l, bytes + at, size - at, address + at);
        else
            at += (low & 3) == 3 ? 4 : 2;
    }
}

static bool print_elf(struct listing *l, Elf *elf, struct error *err)
{
    size_t names;
    GElf_Ehdr header;
    if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
        return error_set(err, "is not an ELF file");
    if (header.e_machine != EM_RISCV || gelf_getclass(elf) != ELFCLASS64)
        return error_set(err, "is not a program for 64-bit RISC-V");
    if (elf_getshdrstrndx(elf, &names) != 0)
        return error_set(err, "has no section table: %s", elf_errmsg(-1));
    Elf_Scn *section = NULL;
    GElf_Shdr sh;
    while ((section = elf_nextscn(elf, section))) {
        if (!gelf_getshdr(section, &sh) || sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_EXECINSTR))
            continue;
        const char *name = elf_strptr(elf, names, sh.sh_name);
        Elf_Data *data = elf_rawdata(section, NULL);
        if (!data || (data->d_size > 0 && !data->d_buf))
            return error_set(err, "has a section that cannot be read: %s", elf_errmsg(-1));
        print_section(l, name ? name : "without a name", sh.sh_addr, data->d_buf, data->d_size);
    }
    if (l->found)
        return true;
    return l->wanted ? error_set(err, "has no function '%s'", l->wanted)
                     : error_set(err, "has no code sections");
}

static bool print_program(struct listing *l, const char *path, struct error *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return error_set(err, "cannot open: %s", strerror(errno));
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    (void)elf_version(EV_CURRENT);
    Elf *elf = regular ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    bool done = elf ? print_elf(l, elf, err)
                    : error_set(err, regular ? "is not an ELF file"
                                             : "is not a regular file; a program is an ELF file");
    (void)elf_end(elf);
    (void)close(fd);
    return done;
}

static int print_words(const struct listing *l, char **words, int count)
{
    for (int i = 0; i < count; i++) {
        char *end, text[128];
        errno = 0;
        unsigned long long bits = strtoull(words[i], &end, 0);
        if (errno != 0 || end == words[i] || *end != '\0' || words[i][0] == '-' || bits > UINT32_MAX)
            return options_usage_error(&disasm_interface,
                                       "'%s' is not an instruction: it must be a number up to 0xffffffff",
                                       words[i]);
        struct insn insn = decode(l->decoder, (uint32_t)bits);
        disasm(&insn, 0, text, sizeof text);
        printf("%0*llx\t%s\n", insn.length == 2 ? 4 : 8, bits, text);
    }
    return 0;
}

/* Runs the command on its arguments. Returns the exit status. */
static int list(struct listing *l, bool words, char **arguments, int count)
{
    struct error err;
    if (words)
        return print_words(l, arguments, count);
    l->symbols = symbols_new(arguments[0]);
    bool done = print_program(l, arguments[0], &err);
    symbols_free(l->symbols);
    if (!done) {
        (void)error_prefix(&err, "%s", arguments[0]);
        advice_program(arguments[0], &err);
        fprintf(stderr, "croft disasm: %s\n", err.text);
    }
    return done ? 0 : 1;
}

/* The parsed command line. */
struct request {
    struct listing listing;
    bool words;
    char **arguments; /* room for argc entries */
    int count;
};

static int take(void *context, int option, const char *value)
{
    struct request *request = context;
    if (option == OPTION_ARGUMENT)
        request->arguments[request->count++] = (char *)(uintptr_t)value;
    else if (option == BITS)
        request->words = true;
    else
        request->listing.wanted = value;
    return OPTIONS_TAKEN;
}

int cmd_disasm(int argc, char **argv)
{
    /* Arguments overwrite argv from the front, where the entries have already been parsed. */
    struct request r = {.arguments = argv + 1};
    int status = options_parse(&disasm_interface, argc, argv, take, &r);
    if (status != OPTIONS_TAKEN)
        return status;
    if (r.count == 0)
        return options_usage_error(&disasm_interface, r.words ? "--bits needs a number" : "no program given");
    if (!r.words && r.count > 1)
        return options_usage_error(&disasm_interface, "takes one program, but '%s' was given, too",
                                   r.arguments[1]);
    struct decoder *decoder = decoder_new();
    r.listing.decoder = decoder;
    status = list(&r.listing, r.words, r.arguments, r.count);
    decoder_free(decoder);
    return status;
}
