#include "emu/env/linux/image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/linux.h"
#include "emu/env/linux/space.h"
#include "emu/env/loader/elf.h"

enum { FLAG_RVE = 0x8 };

static uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(FRAME - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + FRAME - 1);
}

static bool read_at(const struct linux_image *image, uint64_t offset, void *to, size_t length)
{
    return pread(image->fd, to, length, (off_t)offset) == (ssize_t)length;
}

static bool check_header(struct linux_image *image, struct error *err)
{
    const Elf64_Ehdr *h = &image->header;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) != 0)
        return error_set(err, "is not an ELF file (it does not begin with 7f 45 4c 46)");
    if (h->e_ident[EI_CLASS] != ELFCLASS64)
        return error_set(err, "has ELF class %u%s; only 64-bit programs (class 2) can run; " ELF_ADVICE,
                         h->e_ident[EI_CLASS], h->e_ident[EI_CLASS] == ELFCLASS32 ? " (32-bit)" : "");
    if (h->e_ident[EI_DATA] != ELFDATA2LSB)
        return error_set(
            err, "has data encoding %u; only little-endian programs (encoding 1) can run; " ELF_ADVICE,
            h->e_ident[EI_DATA]);
    if (h->e_machine != EM_RISCV)
        return error_set(err, "is for ELF machine %u%s; only RISC-V (machine %d) can run; " ELF_ADVICE,
                         h->e_machine, elf_machine_name(h->e_machine), EM_RISCV);
    if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return error_set(err, "has ELF type %u; a program is an executable (2) or position-independent (3)",
                         h->e_type);
    if (h->e_flags & FLAG_RVE)
        return error_set(err, "uses the 16-register base RV64E; only RV64I programs can run; " ELF_ADVICE);
    if (h->e_phentsize != sizeof(Elf64_Phdr) || h->e_phnum == 0 || h->e_phnum > LINUX_HEADERS)
        return error_set(err, "has %u program headers of %u bytes; 1 to %d of %zu bytes are allowed",
                         h->e_phnum, h->e_phentsize, LINUX_HEADERS, sizeof(Elf64_Phdr));
    image->count = h->e_phnum;
    return read_at(image, h->e_phoff, image->segments, image->count * sizeof(Elf64_Phdr)) ||
           error_set(err, "has program headers past the file's end; is it truncated?");
}

/* Checks a loadable segment and extends the image by it. */
static bool add_segment(struct linux_image *image, size_t index, struct error *err)
{
    const Elf64_Phdr *p = &image->segments[index];
    if (p->p_filesz > p->p_memsz)
        return error_set(err,
                         "segment %zu has 0x%" PRIx64 " bytes in the file but only 0x%" PRIx64 " in memory",
                         index, p->p_filesz, p->p_memsz);
    if (p->p_offset > image->size || p->p_filesz > image->size - p->p_offset)
        return error_set(err,
                         "segment %zu takes 0x%" PRIx64 " bytes at offset 0x%" PRIx64
                         " of a file of 0x%" PRIx64 " bytes; is it truncated?",
                         index, p->p_filesz, p->p_offset, image->size);
    if (p->p_vaddr > SPACE_END || p->p_memsz > SPACE_END - p->p_vaddr)
        return error_set(err,
                         "segment %zu takes 0x%" PRIx64 " bytes at address 0x%" PRIx64
                         "; programs have 0x%" PRIx64 " bytes of addresses (Sv39)",
                         index, p->p_memsz, p->p_vaddr, SPACE_END);
    if (p->p_filesz > 0 && (p->p_vaddr ^ p->p_offset) % FRAME != 0)
        return error_set(err,
                         "segment %zu is at address 0x%" PRIx64 " but offset 0x%" PRIx64
                         " of the file, which differ within a page",
                         index, p->p_vaddr, p->p_offset);
    if (image->end > 0 && page_down(p->p_vaddr) < image->end)
        return error_set(err,
                         "segment %zu, at address 0x%" PRIx64
                         ", does not begin on a page after those before it; link the program with "
                         "-z max-page-size=4096 or more",
                         index, p->p_vaddr);
    if (image->end == 0)
        image->first = page_down(p->p_vaddr);
    image->end = page_up(p->p_vaddr + p->p_memsz);
    return true;
}

static bool read_interpreter(struct linux_image *image, const Elf64_Phdr *p, struct error *err)
{
    bool read = p->p_filesz > 1 && p->p_filesz <= sizeof image->interpreter &&
                read_at(image, p->p_offset, image->interpreter, p->p_filesz);
    return (read && image->interpreter[p->p_filesz - 1] == '\0') ||
           error_set(err, "names no valid dynamic linker (PT_INTERP)");
}

static bool collect(struct linux_image *image, struct error *err)
{
    bool runs = false;
    for (size_t i = 0; i < image->count; i++) {
        const Elf64_Phdr *p = &image->segments[i];
        image->names_stack |= p->p_type == PT_GNU_STACK;
        if (p->p_type == PT_INTERP && !read_interpreter(image, p, err))
            return false;
        if (p->p_type != PT_LOAD || p->p_memsz == 0)
            continue;
        if (!add_segment(image, i, err))
            return false;
        runs |= (p->p_flags & PF_X) && image->header.e_entry - p->p_vaddr < p->p_memsz;
    }
    if (image->end == 0)
        return error_set(err, "has no loadable segment, so there is nothing to run");
    if (image->header.e_type == ET_EXEC && image->first < SPACE_FIRST)
        return error_set(err, "begins at address 0x%" PRIx64 "; Linux programs begin at 0x%x or above",
                         image->first, (unsigned)SPACE_FIRST);
    return (runs && image->header.e_entry % 2 == 0) ||
           error_set(err, "starts at 0x%" PRIx64 ", which is in none of its executable segments",
                     image->header.e_entry);
}

bool linux_image_open(struct linux_image *image, int fd, struct error *err)
{
    struct stat st;
    *image = (struct linux_image){.fd = fd};
    if (fstat(fd, &st) != 0)
        return error_set(err, "cannot be examined: %s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return error_set(err, "is not a regular file; a program is an ELF file");
    image->size = (uint64_t)st.st_size;
    if (!read_at(image, 0, &image->header, sizeof image->header))
        return error_set(err, "is truncated: %" PRIu64 " bytes, but an ELF header has %zu", image->size,
                         sizeof image->header);
    return check_header(image, err) && collect(image, err);
}

void linux_image_close(struct linux_image *image)
{
    if (image->fd >= 0)
        (void)close(image->fd);
    image->fd = -1;
}

/* Reads the file's headers without checking what they say. */
static bool read_headers(int fd, Elf64_Ehdr *header, Elf64_Phdr *segments)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || pread(fd, header, sizeof *header, 0) != sizeof *header)
        return false;
    const size_t size = header->e_phnum * sizeof *segments;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
           header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_machine == EM_RISCV &&
           header->e_phentsize == sizeof *segments && header->e_phnum <= LINUX_HEADERS &&
           pread(fd, segments, size, (off_t)header->e_phoff) == (ssize_t)size;
}

bool linux_recognises(const char *path, const struct memory_config *memory)
{
    Elf64_Ehdr header;
    Elf64_Phdr segments[LINUX_HEADERS];
    bool linker = false, stack = false, outside = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool read = fd >= 0 && read_headers(fd, &header, segments);
    if (fd >= 0)
        (void)close(fd);
    for (size_t i = 0; read && i < header.e_phnum; i++) {
        linker |= segments[i].p_type == PT_INTERP;
        stack |= segments[i].p_type == PT_GNU_STACK;
        outside |= segments[i].p_type == PT_LOAD &&
                   (segments[i].p_vaddr < memory->base || segments[i].p_vaddr - memory->base >= memory->size);
    }
    return read && ((header.e_type == ET_EXEC && (linker || (stack && outside))) ||
                    (header.e_type == ET_DYN && (linker || stack)));
}
