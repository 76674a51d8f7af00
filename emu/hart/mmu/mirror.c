#include "emu/hart/mmu/mirror.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

/* An instruction of a handler, and where it goes on if it faults: distances from the fields. The linker gathers them. */
struct mirror_fault {
    int32_t at, to;
};

extern const struct mirror_fault __start_croft_mirror_faults[], __stop_croft_mirror_faults[];

static uintptr_t target(const int32_t *distance)
{
    return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

/* Lets a handler that has touched a page in vain go on at its way out. Other faults are the emulator's own and end it. */
static void leave_handler(int number, siginfo_t *info, void *context)
{
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)info;
    for (const struct mirror_fault *f = __start_croft_mirror_faults; f < __stop_croft_mirror_faults; f++)
        if (target(&f->at) == (uintptr_t)*pc) {
            *pc = (greg_t)target(&f->to);
            return;
        }
    (void)signal(number, SIG_DFL);
}

/* Maps nothing at a range of the mirror. */
static bool clear(uint8_t *at, uint64_t size, int fixed)
{
    return mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0) !=
           MAP_FAILED;
}

bool mirror_init(struct mirror *mirror, const struct phys *memory, int file, uint64_t size)
{
    const struct sigaction action = {.sa_sigaction = leave_handler, .sa_flags = SA_SIGINFO};
    *mirror = (struct mirror){.memory = memory, .file = file, .size = size};
    if (sysconf(_SC_PAGESIZE) != CODE_PAGE)
        return false;
    void *bytes = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    mirror->bytes = bytes;
    mirror->writers = calloc(memory->size / CODE_PAGE, sizeof *mirror->writers);
    if (!mirror->writers || sigaction(SIGSEGV, &action, NULL) != 0) {
        mirror_free(mirror);
        return false;
    }
    mirror->shows = true;
    return true;
}

void mirror_free(struct mirror *mirror)
{
    if (mirror->bytes)
        (void)munmap(mirror->bytes, mirror->size);
    free(mirror->writers);
    *mirror = (struct mirror){0};
}

void mirror_end(struct mirror *mirror)
{
    if (mirror->shows && !clear(mirror->bytes, mirror->size, MAP_FIXED))
        abort(); /* the host cannot split its mappings; a whole one it can replace */
    mirror->shows = false;
}

static bool has_code(const struct mirror *mirror, uint64_t physical, uint64_t size)
{
    for (uint64_t done = 0; done < size; done += CODE_PAGE)
        if (phys_has_code(mirror->memory, physical + done))
            return true;
    return false;
}

void mirror_show(struct mirror *mirror, uint64_t first, uint64_t end, uint64_t physical, unsigned rights)
{
    uint8_t *at = mirror->bytes + first;
    const uint64_t size = end - first;
    bool writes = rights & MIRROR_WRITE, shown;
    if (!mirror->shows || first >= end)
        return;
    if (rights == 0)
        shown = clear(at, size, MAP_FIXED);
    else
        shown = !(writes && has_code(mirror, physical, size)) &&
                mmap(at, size, PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                     mirror->file, (off_t)(physical - mirror->memory->base)) != MAP_FAILED;
    if (!shown)
        mirror_end(mirror);
}
