/* Loads a Linux program, its dynamic linker, and its stack. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/linux/image.h"
#include "emu/env/linux/state.h"
#include "emu/env/loader/stack.h"
#include "emu/sim/alloc.h"

/* Where Linux places position-independent programs: two thirds of the address space. */
#define PIE_BASE UINT64_C(0x2aaaaaa000)
/* Linux's stack_guard_gap: 256 pages below the stack stay free. */
enum { STACK_GAP = 256 * FRAME, CHUNK = 1 << 16 };

static uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(FRAME - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + FRAME - 1);
}

static uint8_t protection_of(uint32_t flags)
{
    return (uint8_t)((flags & PF_R ? SPACE_READ : 0) | (flags & PF_W ? SPACE_WRITE : 0) |
                     (flags & PF_X ? SPACE_EXECUTE : 0));
}

static bool map_pages(struct process *process, uint64_t first, uint64_t end, uint64_t offset,
                      uint8_t protection, struct space_file *file, struct error *err)
{
    const struct space_request request = {.first = first,
                                          .length = end - first,
                                          .protection = protection,
                                          .fixed = true,
                                          .keep = true,
                                          .file = file,
                                          .offset = offset};
    int64_t at = first < end ? address_space_map(&process->space, &request) : 0;
    if (at >= 0)
        return true;
    return at == -ENOMEM
               ? error_set(err,
                           "does not fit into memory: 0x%" PRIx64 " bytes at 0x%" PRIx64
                           "; enlarge memory.size (%" PRIu64 " KiB)",
                           end - first, first, process->memory.size / 1024)
               : error_set(err, "cannot be loaded at 0x%" PRIx64 ": something else is there", first);
}

static bool map_segment(struct process *process, const struct linux_image *image, const Elf64_Phdr *p,
                        uint64_t bias, struct space_file *file, struct error *err)
{
    static const uint8_t zeros[FRAME];
    const uint64_t first = page_down(p->p_vaddr) + bias, at = p->p_vaddr + bias, filled = at + p->p_filesz,
                   filled_end = p->p_filesz ? page_up(filled) : first, end = page_up(at + p->p_memsz);
    const uint8_t protection = protection_of(p->p_flags);
    if (!map_pages(process, first, filled_end, page_down(p->p_offset), protection, file, err) ||
        !map_pages(process, filled_end > first ? filled_end : first, end, 0, protection, NULL, err))
        return false;
    if (filled_end == first)
        return true;
    int64_t failed =
        address_space_fill(&process->space, first, filled_end - first, image->fd, page_down(p->p_offset));
    if (failed)
        return error_set(err, "cannot be read: %s", strerror((int)-failed));
    /* The rest of a writable segment's last page is zero; that of others shows the file, as on Linux. */
    if (p->p_memsz > p->p_filesz)
        (void)address_space_write(&process->space, filled, zeros, filled_end - filled);
    return true;
}

/* Maps the image's segments, `bias` above their addresses. */
static bool map_image(struct process *process, const struct linux_image *image, const char *name,
                      uint64_t bias, struct error *err)
{
    struct space_file *file = address_space_file_new(fcntl(image->fd, F_DUPFD_CLOEXEC, 0), name);
    bool mapped = true;
    for (size_t i = 0; i < image->count && mapped; i++)
        if (image->segments[i].p_type == PT_LOAD && image->segments[i].p_memsz > 0)
            mapped = map_segment(process, image, &image->segments[i], bias, file, err);
    address_space_file_release(file);
    return mapped;
}

/* Returns a place for a position-independent image. */
static uint64_t find_place(struct process *process, uint64_t length)
{
    const struct space_request request = {.length = length};
    const int64_t at = address_space_map(&process->space, &request);
    if (at > 0)
        (void)address_space_unmap(&process->space, (uint64_t)at, length);
    return at > 0 ? (uint64_t)at : 0;
}

static bool open_interpreter(const struct process *process, const char *path, struct linux_image *image,
                             struct error *err)
{
    struct error inner;
    if (process->sysroot.root < 0)
        return error_set(err,
                         "needs the dynamic linker %s; name the folder that has it and the libraries "
                         "(--sysroot /usr/riscv64-linux-gnu), or link the program with -static",
                         path);
    int fd = sandbox_open_at(&process->sysroot, "", path + strspn(path, "/"), O_RDONLY, 0);
    if (fd < 0)
        return error_set(
            err,
            "needs the dynamic linker %s, which --sysroot %s does not have (%s); name the folder "
            "that has it at this path, with the libraries beside it",
            path, process->sysroot.path, strerror(-fd));
    bool opened = linux_image_open(image, fd, &inner);
    if (opened && image->header.e_type == ET_DYN && !image->interpreter[0])
        return true;
    linux_image_close(image);
    return opened ? error_set(err, "its dynamic linker %s is not a position-independent program", path)
                  : error_set(err, "its dynamic linker %s %s", path, inner.text);
}

/* Loads the dynamic linker. Sets its base and entry. */
static bool load_interpreter(struct process *process, const char *path, uint64_t *base, uint64_t *entry,
                             struct error *err)
{
    struct linux_image image = {.fd = -1};
    if (!open_interpreter(process, path, &image, err))
        return false;
    *base = find_place(process, image.end - image.first) - image.first;
    *entry = image.header.e_entry + *base;
    bool mapped = map_image(process, &image, path, *base, err);
    linux_image_close(&image);
    return mapped;
}

/* Maps the code that handlers of signals return to. */
static bool map_trampoline(struct process *process, struct error *err)
{
    static const uint32_t code[] = {0x08b00893,
                                    0x00000073}; /* li a7, 139; ecall: unwinders know it by these */
    const struct space_request request = {.length = FRAME, .protection = SPACE_READ | SPACE_EXECUTE};
    const int64_t at = address_space_map(&process->space, &request);
    process->trampoline = (uint64_t)at;
    return (at > 0 && address_space_write(&process->space, (uint64_t)at, code, sizeof code)) ||
           error_set(err, "memory.size leaves no room for a program; enlarge it");
}

/* The stack's contents: words from the bottom, strings from the top. */
struct stack {
    uint8_t *bytes;
    uint64_t base, size;   /* address of bytes[0] */
    uint64_t word, string; /* offsets */
};

static void put_word(struct stack *s, uint64_t value)
{
    memcpy(s->bytes + s->word, &value, 8);
    s->word += 8;
}

static uint64_t put_bytes(struct stack *s, const void *bytes, uint64_t length)
{
    memcpy(s->bytes + s->string, bytes, length);
    s->string += length;
    return s->base + s->string - length;
}

static void put_pair(struct stack *s, uint64_t type, uint64_t value)
{
    put_word(s, type);
    put_word(s, value);
}

static void put_auxiliary(struct process *process, struct stack *s, uint64_t interpreter, uint64_t name)
{
    /* Fixed, so that everything that a program derives from these bytes is the same in every run. */
    static const uint8_t random[16] = {0x5d, 0x1b, 0xe6, 0x3a, 0x94, 0x07, 0xc8, 0x72,
                                       0x2f, 0xa9, 0x40, 0xdb, 0x86, 0x13, 0xf5, 0x6e};
    const uint64_t first = s->word;
    put_pair(s, AT_PHDR, process->headers);
    put_pair(s, AT_PHENT, sizeof(Elf64_Phdr));
    put_pair(s, AT_PHNUM, process->header_count);
    put_pair(s, AT_PAGESZ, FRAME);
    put_pair(s, AT_BASE, interpreter);
    put_pair(s, AT_FLAGS, 0);
    put_pair(s, AT_ENTRY, process->entry);
    put_pair(s, AT_UID, GUEST_USER_ID);
    put_pair(s, AT_EUID, GUEST_USER_ID);
    put_pair(s, AT_GID, GUEST_USER_ID);
    put_pair(s, AT_EGID, GUEST_USER_ID);
    put_pair(s, AT_HWCAP,
             1 << ('I' - 'A') | 1 << ('M' - 'A') | 1 << 0 | 1 << ('F' - 'A') | 1 << ('D' - 'A') |
                 1 << ('C' - 'A'));
    put_pair(s, AT_CLKTCK, 100);
    put_pair(s, AT_SECURE, 0);
    put_pair(s, AT_RANDOM, put_bytes(s, random, sizeof random));
    put_pair(s, AT_EXECFN, name);
    put_pair(s, AT_NULL, 0);
    process->auxiliary = s->base + first;
    process->auxiliary_size = s->word - first;
}

static void fill_stack(struct process *process, struct stack *s, uint64_t interpreter)
{
    const struct user_options *o = process->options->user;
    put_word(s, o->argument_count);
    process->arguments = s->base + s->string;
    for (size_t i = 0; i < o->argument_count; i++)
        put_word(s, put_bytes(s, o->arguments[i], strlen(o->arguments[i]) + 1));
    process->arguments_end = s->base + s->string;
    put_word(s, 0);
    for (size_t i = 0; i < o->environment_count; i++)
        put_word(s, put_bytes(s, o->environment[i], strlen(o->environment[i]) + 1));
    put_word(s, 0);
    put_auxiliary(process, s, interpreter, put_bytes(s, o->program, strlen(o->program) + 1));
}

/* Builds the stack at the end of the address space. Sets *sp. */
static bool build_stack(struct process *process, uint64_t interpreter, uint64_t *sp, struct error *err)
{
    enum { AUXILIARY = 17, RANDOM = 16 };
    const struct user_options *o = process->options->user;
    const uint64_t stack = page_up(o->stack_size),
                   words = 3 + o->argument_count + o->environment_count + 2 * AUXILIARY;
    const uint64_t strings = stack_strings_size(o->arguments, o->argument_count) +
                             stack_strings_size(o->environment, o->environment_count) + strlen(o->program) +
                             1 + RANDOM;
    const uint64_t size = (words * 8 + strings + 15) & ~UINT64_C(15);
    if (size > stack / 4)
        return error_set(err,
                         "arguments and environment take %" PRIu64 " bytes; a quarter of the stack (%" PRIu64
                         " bytes) is allowed: shorten them or enlarge user_stack.size",
                         size, stack / 4);
    struct stack s = {.bytes = alloc(1, size), .base = SPACE_END - size, .size = size, .string = words * 8};
    fill_stack(process, &s, interpreter);
    (void)address_space_write(&process->space, s.base, s.bytes, size);
    free(s.bytes);
    *sp = s.base;
    return true;
}

static bool map_stack(struct process *process, struct error *err)
{
    const uint64_t size = page_up(process->options->user->stack_size);
    process->user->stack_first = SPACE_END - size;
    process->space.top = SPACE_END - size - STACK_GAP;
    return map_pages(process, SPACE_END - size, SPACE_END, 0, SPACE_READ | SPACE_WRITE, NULL, err);
}

/* Sets what the auxiliary vector says of the program, and where the break begins. */
static void describe(struct process *process, const struct linux_image *image, uint64_t bias)
{
    process->entry = image->header.e_entry + bias;
    process->header_count = image->count;
    process->space.break_start = process->space.break_end = image->end + bias;
    for (size_t i = 0; i < image->count; i++) {
        const Elf64_Phdr *p = &image->segments[i];
        if (p->p_type == PT_LOAD && image->header.e_phoff - p->p_offset < p->p_filesz)
            process->headers = p->p_vaddr + bias + (image->header.e_phoff - p->p_offset);
    }
}

static bool load(struct process *process, struct linux_image *image, struct context *context,
                 struct error *err)
{
    const uint64_t bias = image->header.e_type == ET_DYN ? PIE_BASE - image->first : 0;
    uint64_t interpreter = 0;
    describe(process, image, bias);
    symbols_move(process->user->symbols, bias);
    context->pc = process->entry;
    if (!map_stack(process, err) || !map_image(process, image, process->executable, bias, err) ||
        !map_trampoline(process, err))
        return false;
    if (image->interpreter[0] &&
        !load_interpreter(process, image->interpreter, &interpreter, &context->pc, err))
        return false;
    return build_stack(process, interpreter, &context->x[X_SP], err);
}

uint64_t linux_bias(const struct process *process)
{
    return symbols_bias(process->user->symbols);
}

bool linux_load(struct process *process, struct context *context, struct error *err)
{
    const char *path = process->options->user->program;
    struct linux_image image;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return error_set(err, "%s: cannot open the program: %s", path, strerror(errno));
    process->executable = realpath(path, NULL);
    if (!process->executable)
        process->executable = alloc_text(path);
    bool loaded = linux_image_open(&image, fd, err) && load(process, &image, context, err);
    linux_image_close(&image);
    return loaded || error_prefix(err, "%s", path);
}
