#include "emu/mem/phys.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PHYS_PAGE = 4096 };

static bool check(uint64_t base, uint64_t size, struct error *err)
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
    return true;
}

/* Makes memory of reserved host memory. */
static bool take(struct phys *memory, void *bytes, uint64_t base, uint64_t size, struct error *err)
{
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

static void *reserve(uint64_t size, int kind, int file)
{
    return mmap(0, size, PROT_READ | PROT_WRITE, kind | MAP_NORESERVE, file, 0);
}

bool phys_init(struct phys *memory, uint64_t base, uint64_t size, struct error *err)
{
    return check(base, size, err) &&
           take(memory, reserve(size, MAP_PRIVATE | MAP_ANONYMOUS, -1), base, size, err);
}

bool phys_init_shared(struct phys *memory, uint64_t base, uint64_t size, int *file, struct error *err)
{
    *file = -1;
    if (!check(base, size, err))
        return false;
    struct rlimit limit; /* a file beyond it would be a signal */
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < size)
        return phys_init(memory, base, size, err);
    int host = memfd_create("memory", MFD_CLOEXEC);
    if (host < 0 || ftruncate(host, (off_t)size) != 0) {
        if (host >= 0)
            (void)close(host);
        return phys_init(memory, base, size, err);
    }
    bool taken = take(memory, reserve(size, MAP_SHARED, host), base, size, err);
    memory->shared = taken;
    *file = host;
    return taken;
}

bool phys_discard(const struct phys *memory, uint8_t *bytes, uint64_t size)
{
    const uint64_t host_page = (uint64_t)sysconf(_SC_PAGESIZE);
    return (uintptr_t)bytes % host_page == 0 && size % host_page == 0 &&
           madvise(bytes, size, memory->shared ? MADV_REMOVE : MADV_DONTNEED) == 0;
}

void phys_free(struct phys *memory)
{
    if (memory->bytes)
        (void)munmap(memory->bytes, memory->size);
    code_pages_free(memory->code);
    *memory = (struct phys){0};
}
