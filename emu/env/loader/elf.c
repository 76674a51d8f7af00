#include "emu/env/loader/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    CHUNK = 4096,         /* bytes copied at a time to holders outside of memory */
    FLOAT_ABI_QUAD = 0x6, /* e_flags[2:1] == 3 (RISC-V ELF psABI) */
    FLAG_RVE = 0x8,
};

struct segment {
    uint64_t first, end; /* guest addresses, end excluded */
    uint64_t offset, file_size;
    uint32_t flags;
};

struct image {
    int fd;
    uint64_t size; /* of the file, in bytes */
    enum elf_address address;
    Elf *elf;
    GElf_Ehdr header;
    uint64_t bias; /* added to all addresses of a position-independent file */
    struct segment segments[ELF_SEGMENTS];
    size_t count;
};

static bool open_regular(struct image *image, const char *path, struct error *err)
{
    struct stat st;
    image->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (image->fd < 0)
        return error_set(err, "cannot open the program: %s", strerror(errno));
    if (fstat(image->fd, &st) != 0)
        return error_set(err, "cannot examine the program: %s", strerror(errno));
    if (S_ISDIR(st.st_mode))
        return error_set(err, "is a directory; a program is an ELF file");
    if (!S_ISREG(st.st_mode))
        return error_set(err, "is not a regular file; a program is an ELF file");
    image->size = (uint64_t)st.st_size;
    return true;
}

/* Checks the identification bytes. libelf checks them, too, but does not report which of them is wrong. */
static bool check_identification(const struct image *image, struct error *err)
{
    unsigned char ident[EI_NIDENT] = {0};
    ssize_t got = pread(image->fd, ident, sizeof ident, 0);
    if (got < 0)
        return error_set(err, "cannot be read: %s", strerror(errno));
    if (got == 0)
        return error_set(err, "is empty; a program is an ELF file");
    if (got < 4 || memcmp(ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, "is not an ELF file (it does not begin with 7f 45 4c 46)");
    if (image->size < sizeof(Elf64_Ehdr))
        return error_set(err, "is truncated: %" PRIu64 " bytes, but an ELF header has %zu", image->size,
                         sizeof(Elf64_Ehdr));
    if (ident[EI_CLASS] != ELFCLASS64)
        return error_set(err, "has ELF class %u%s; only 64-bit programs (class 2) can run; " ELF_ADVICE,
                         ident[EI_CLASS], ident[EI_CLASS] == ELFCLASS32 ? " (32-bit)" : "");
    if (ident[EI_DATA] != ELFDATA2LSB)
        return error_set(
            err, "has data encoding %u; only little-endian programs (encoding 1) can run; " ELF_ADVICE,
            ident[EI_DATA]);
    if (ident[EI_VERSION] != EV_CURRENT)
        return error_set(err, "has ELF version %u; only version 1 exists", ident[EI_VERSION]);
    return true;
}

const char *elf_machine_name(unsigned machine)
{
    switch (machine) {
    case EM_386: return " (32-bit x86)";
    case EM_X86_64: return " (x86-64)";
    case EM_ARM: return " (32-bit Arm)";
    case EM_AARCH64: return " (64-bit Arm)";
    default: return "";
    }
}

static const char *type_text(unsigned type)
{
    switch (type) {
    case ET_REL: return "an object file that is not linked yet";
    case ET_DYN: return "a shared or position-independent program; link it with -static and without -pie";
    case ET_CORE: return "a core dump";
    default: return "which is not a program";
    }
}

static bool check_header(struct image *image, struct error *err)
{
    const GElf_Ehdr *h = &image->header;
    if (!gelf_getehdr(image->elf, &image->header))
        return error_set(err, "has a bad ELF header: %s", elf_errmsg(-1));
    if (h->e_machine != EM_RISCV)
        return error_set(err, "is for ELF machine %u%s; only RISC-V (machine %d) can run; " ELF_ADVICE,
                         h->e_machine, elf_machine_name(h->e_machine), EM_RISCV);
    if (h->e_type != ET_EXEC && !(h->e_type == ET_DYN && image->address == ELF_MOVABLE))
        return error_set(err, "has ELF type %u, %s; only executables (type %d) can run", h->e_type,
                         type_text(h->e_type), ET_EXEC);
    if (h->e_version != EV_CURRENT)
        return error_set(err, "has ELF version %u in its header; only version 1 exists", h->e_version);
    if (h->e_flags & FLAG_RVE)
        return error_set(err, "uses the 16-register base RV64E; only RV64I programs can run; " ELF_ADVICE);
    if ((h->e_flags & FLOAT_ABI_QUAD) == FLOAT_ABI_QUAD)
        return error_set(err, "uses the quad float ABI; allowed are soft, single and double (-mabi=lp64, "
                              "lp64f, lp64d)");
    if (h->e_phnum == 0)
        return error_set(err, "has no program headers, so there is nothing to load; is it linked?");
    if (h->e_phnum == PN_XNUM)
        return error_set(err, "has 65535 or more program headers; at most 65534 are allowed");
    if (h->e_phentsize != sizeof(Elf64_Phdr))
        return error_set(err, "has program headers of %u bytes; in ELF64 they have %zu", h->e_phentsize,
                         sizeof(Elf64_Phdr));
    if (h->e_phoff > image->size || (uint64_t)h->e_phnum * sizeof(Elf64_Phdr) > image->size - h->e_phoff)
        return error_set(err,
                         "has %u program headers at offset 0x%" PRIx64
                         ", which is past the file's end (0x%" PRIx64 " bytes); is it truncated?",
                         h->e_phnum, (uint64_t)h->e_phoff, image->size);
    return true;
}

/* Checks that all bytes of a segment lie in memory or in other holders of ordinary bytes. */
static bool check_place(const struct image *image, size_t index, const GElf_Phdr *p, uint64_t first,
                        const struct bytes *bytes, struct error *err)
{
    const struct phys *memory = bytes->memory;
    const char *kind = image->address != ELF_VIRTUAL ? "physical " : "";
    uint64_t reach = bytes_reach(bytes, first, p->p_memsz, true);
    if (reach == p->p_memsz)
        return true;
    if (reach == 0 || phys_at(memory, first, 1))
        return error_set(err,
                         "segment %zu takes 0x%" PRIx64 " bytes at %saddress 0x%" PRIx64
                         ", outside of the memory 0x%" PRIx64 "-0x%" PRIx64
                         "; link the program into it or change memory.base and memory.size",
                         index, (uint64_t)p->p_memsz, kind, first, memory->base,
                         memory->base + memory->size - 1);
    const struct bytes_holder *holder = bytes_holder_of(bytes->holders, first);
    return error_set(err,
                     "segment %zu takes 0x%" PRIx64 " bytes at %saddress 0x%" PRIx64
                     ", but %s ends at 0x%" PRIx64 "; make the segment smaller or link it elsewhere",
                     index, (uint64_t)p->p_memsz, kind, first, holder->name, first + reach);
}

static bool check_segment(const struct image *image, size_t index, const GElf_Phdr *p, uint64_t first,
                          const struct bytes *bytes, struct error *err)
{
    if (p->p_filesz > p->p_memsz)
        return error_set(err,
                         "segment %zu has 0x%" PRIx64 " bytes in the file but only 0x%" PRIx64 " in memory",
                         index, (uint64_t)p->p_filesz, (uint64_t)p->p_memsz);
    if (p->p_filesz > 0 && (p->p_offset > image->size || p->p_filesz > image->size - p->p_offset))
        return error_set(err,
                         "segment %zu takes 0x%" PRIx64 " bytes at offset 0x%" PRIx64
                         " of a file of 0x%" PRIx64 " bytes; is it truncated?",
                         index, (uint64_t)p->p_filesz, (uint64_t)p->p_offset, image->size);
    if (p->p_align > 1 && (p->p_align & (p->p_align - 1)) != 0)
        return error_set(err, "segment %zu has alignment 0x%" PRIx64 ", which is not a power of two", index,
                         (uint64_t)p->p_align);
    return check_place(image, index, p, first, bytes, err);
}

static bool check_overlap(const struct image *image, const struct segment *new, size_t index,
                          struct error *err)
{
    for (size_t i = 0; i < image->count; i++) {
        const struct segment *old = &image->segments[i];
        if (new->first < old->end && old->first < new->end)
            return error_set(err,
                             "segment %zu (0x%" PRIx64 "-0x%" PRIx64 ") overlaps an earlier one (0x%" PRIx64
                             "-0x%" PRIx64 ")",
                             index, new->first, new->end - 1, old->first, old->end - 1);
    }
    return true;
}

static bool collect_segments(struct image *image, const struct bytes *bytes, struct error *err)
{
    image->bias = image->header.e_type == ET_DYN ? bytes->memory->base : 0;
    for (size_t i = 0; i < image->header.e_phnum; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(image->elf, (int)i, &p))
            return error_set(err, "program header %zu cannot be read: %s", i, elf_errmsg(-1));
        if (p.p_type == PT_INTERP)
            return error_set(err, "needs a dynamic linker; link it with -static");
        if (p.p_type != PT_LOAD || p.p_memsz == 0)
            continue;
        if (image->count == ELF_SEGMENTS)
            return error_set(err, "has more than %d loadable segments", ELF_SEGMENTS);
        uint64_t first = (image->address != ELF_VIRTUAL ? p.p_paddr : p.p_vaddr) + image->bias;
        struct segment segment = {.first = first,
                                  .end = first + p.p_memsz,
                                  .offset = p.p_offset,
                                  .file_size = p.p_filesz,
                                  .flags = p.p_flags};
        if (!check_segment(image, i, &p, first, bytes, err) || !check_overlap(image, &segment, i, err))
            return false;
        image->segments[image->count++] = segment;
    }
    if (image->count == 0)
        return error_set(err, "has no loadable segment, so there is nothing to run");
    return true;
}

/* Fills *program from the collected segments. */
static bool describe(const struct image *image, struct elf_program *program, const struct phys *memory,
                     struct error *err)
{
    bool entry_found = false;
    uint64_t headers_end = image->header.e_phoff + image->header.e_phnum * sizeof(Elf64_Phdr);
    *program = (struct elf_program){.entry = image->header.e_entry + image->bias,
                                    .end = memory->base,
                                    .write_first = UINT64_MAX,
                                    .headers_count = image->header.e_phnum,
                                    .range_count = image->count};
    for (size_t i = 0; i < image->count; i++) {
        const struct segment *s = &image->segments[i];
        program->ranges[i] = (struct elf_range){s->first, s->end};
        program->contents[i].bytes_end = s->first + s->file_size;
        program->contents[i].permissions = s->flags & (PF_R | PF_W | PF_X);
        bool plain = phys_at(memory, s->first, s->end - s->first) != NULL;
        if (plain && s->end > program->end)
            program->end = s->end;
        if (plain && (s->flags & PF_W) && s->first < program->write_first)
            program->write_first = s->first;
        /* Harts do not know a segment's permissions, and some linker scripts of firmware give none. */
        bool runs = (s->flags & PF_X) || image->address != ELF_VIRTUAL;
        if (runs && program->entry >= s->first && program->entry < s->end)
            entry_found = true;
        if (image->header.e_phoff >= s->offset && headers_end <= s->offset + s->file_size)
            program->headers = s->first + (image->header.e_phoff - s->offset);
    }
    if (program->write_first == UINT64_MAX)
        program->write_first = program->end;
    if (!entry_found)
        return error_set(err, "starts at 0x%" PRIx64 ", which is in none of its %s", program->entry,
                         image->address != ELF_VIRTUAL ? "segments, by physical address"
                                                       : "executable segments");
    if (program->entry % 2 != 0)
        return error_set(err, "starts at the odd address 0x%" PRIx64 "; instructions have even addresses",
                         program->entry);
    return true;
}

/* Reads length bytes of the file from an offset. */
static bool read_file(const struct image *image, uint64_t offset, uint8_t *to, uint64_t length,
                      struct error *err)
{
    uint64_t done = 0;
    while (done < length) {
        ssize_t got = pread(image->fd, to + done, length - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(err, "cannot be read at offset 0x%" PRIx64 ": %s", offset + done,
                             strerror(errno));
        if (got == 0)
            return error_set(err, "became shorter while it was read");
        done += (uint64_t)got;
    }
    return true;
}

/* Fills a segment that does not lie wholly in memory: the file's bytes, then zeros. */
static bool fill_elsewhere(const struct image *image, const struct segment *segment,
                           const struct bytes *bytes, struct error *err)
{
    uint8_t piece[CHUNK];
    uint64_t size = segment->end - segment->first;
    for (uint64_t done = 0, part; done < size; done += part) {
        uint64_t left = size - done, filed = segment->file_size > done ? segment->file_size - done : 0;
        part = left < sizeof piece ? left : sizeof piece;
        filed = filed < part ? filed : part;
        memset(piece + filed, 0, part - filed);
        if (!read_file(image, segment->offset + done, piece, filed, err))
            return false;
        uint64_t address = segment->first + done, written = bytes_write(bytes, address, piece, part);
        if (written == part)
            continue;
        const struct bytes_holder *holder = bytes_holder_of(bytes->holders, address + written);
        return error_set(err, "cannot be loaded at 0x%" PRIx64 ": %s refuses the bytes; link it elsewhere",
                         address + written, holder->name);
    }
    return true;
}

/* Zeroes length bytes at an address. Gives whole pages back to the host, so that zeroing a large range is
 * fast and untouched memory needs no host memory. */
static void zero(const struct phys *memory, uint64_t address, uint64_t length)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t first = address - memory->base, end = first + length;
    uint64_t pages = (first + page - 1) & ~(page - 1), pages_end = end & ~(page - 1);
    if (pages >= pages_end || !phys_discard(memory, memory->bytes + pages, pages_end - pages)) {
        memset(memory->bytes + first, 0, length);
        return;
    }
    memset(memory->bytes + first, 0, pages - first);
    memset(memory->bytes + pages_end, 0, end - pages_end);
}

static bool fill_segment(const struct image *image, const struct segment *segment, const struct bytes *bytes,
                         struct error *err)
{
    uint8_t *to = phys_at(bytes->memory, segment->first, segment->end - segment->first);
    if (!to)
        return fill_elsewhere(image, segment, bytes, err);
    if (!read_file(image, segment->offset, to, segment->file_size, err))
        return false;
    phys_note_store(bytes->memory, segment->first, segment->file_size);
    uint64_t end = segment->first + segment->file_size;
    zero(bytes->memory, end, segment->end - end);
    return true;
}

static bool load(struct image *image, struct elf_program *program, const char *path,
                 const struct bytes *bytes, struct error *err)
{
    if (!open_regular(image, path, err) || !check_identification(image, err))
        return false;
    (void)elf_version(EV_CURRENT);
    image->elf = elf_begin(image->fd, ELF_C_READ, NULL);
    if (!image->elf)
        return error_set(err, "cannot be read as an ELF file: %s", elf_errmsg(-1));
    if (!check_header(image, err) || !collect_segments(image, bytes, err) ||
        !describe(image, program, bytes->memory, err))
        return false;
    for (size_t i = 0; i < image->count; i++)
        if (!fill_segment(image, &image->segments[i], bytes, err))
            return false;
    return true;
}

bool elf_load(struct elf_program *program, const char *path, enum elf_address address,
              const struct bytes *bytes, struct error *err)
{
    struct image image = {.fd = -1, .address = address};
    bool loaded = load(&image, program, path, bytes, err) || error_prefix(err, "%s", path);
    (void)elf_end(image.elf);
    if (image.fd >= 0)
        (void)close(image.fd);
    return loaded;
}

bool elf_load_firmware(const char *path, const struct phys *memory, uint64_t *entry, struct error *err)
{
    struct elf_program program = {0};
    if (!elf_load(&program, path, ELF_PHYSICAL, &(struct bytes){memory, NULL}, err))
        return false;
    *entry = program.entry;
    return true;
}
