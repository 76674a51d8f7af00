#include "emu/mem/phys.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

enum { PHYS_PAGE = 4096 };

bool phys_init(struct phys *memory, uint64_t base, uint64_t size, struct error *err)
{
    if (size == 0 || size % PHYS_PAGE != 0 || base % PHYS_PAGE != 0)
        return error_set(err,
                         "memory of %" PRIu64 " bytes at 0x%" PRIx64
                         ": address and size must be multiples of 4 KiB, and the size must not be 0",
                         size, base);
    if (base + size < base)
        return error_set(
            err, "memory of %" PRIu64 " bytes at 0x%" PRIx64 " runs past the end of the address space", size,
            base);
    void *bytes = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return error_set(err, "the host cannot reserve %" PRIu64 " bytes of memory: %s", size,
                         strerror(errno));
    struct code_pages *code = code_pages_new(bytes, size);
    if (!code) {
        (void)munmap(bytes, size);
        return error_set(err, "the host has no memory for a map of %" PRIu64 " bytes of memory: %s", size,
                         strerror(ENOMEM));
    }
    *memory = (struct phys){.bytes = bytes, .base = base, .size = size, .code = code};
    return true;
}

void phys_free(struct phys *memory)
{
    if (memory->bytes)
        (void)munmap(memory->bytes, memory->size);
    code_pages_free(memory->code);
    *memory = (struct phys){0};
}
