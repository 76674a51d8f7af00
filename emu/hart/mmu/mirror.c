#include "emu/hart/mmu/mirror.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "emu/hart/exec/compiled.h"
#include "emu/sim/alloc.h"

/* An instruction of a handler, and where it goes on if it faults: distances from the fields. The linker gathers them. */
struct mirror_fault {
    int32_t at, to;
};

/* What the handler knows of the thread's code: a signal brings nothing along. */
static _Thread_local const struct compiler *noted __attribute__((tls_model("initial-exec")));

void mirror_note_compiler(const struct compiler *compiler)
{
    noted = compiler;
}

void mirror_forget_compiler(const struct compiler *compiler)
{
    if (noted == compiler)
        noted = NULL;
}

extern const struct mirror_fault __start_croft_mirror_faults[], __stop_croft_mirror_faults[];

static uintptr_t target(const int32_t *distance)
{
    return (uintptr_t)distance + (uintptr_t)(intptr_t)*distance;
}

/* Lets a handler, or compiled code, that has touched a page in vain go on at its way out. Other faults are the emulator's own and end it. */
static void leave_handler(int number, siginfo_t *info, void *context)
{
    greg_t *pc = &((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (info->si_code <= 0) { /* somebody sent it: no fault will send it again */
        (void)signal(number, SIG_DFL);
        (void)raise(number);
        return;
    }
    for (const struct mirror_fault *f = __start_croft_mirror_faults; f < __stop_croft_mirror_faults; f++)
        if (target(&f->at) == (uintptr_t)*pc) {
            *pc = (greg_t)target(&f->to);
            return;
        }
    const uintptr_t to = noted ? noted->faulted(noted, (uintptr_t)*pc) : (uintptr_t)0;
    if (to)
        *pc = (greg_t)to;
    else
        (void)signal(number, SIG_DFL);
}

/* Changes of a mirror before it ends: each may split a mapping of the host, which has some 65,000 and must keep some for the emulator. */
enum { MOST_CHANGES = 30000 };

void mirror_init(struct mirror *mirror, const struct phys *memory, int file, uint64_t size)
{
    const struct sigaction action = {.sa_sigaction = leave_handler, .sa_flags = SA_SIGINFO};
    sigset_t faults;
    *mirror = (struct mirror){.shows = true, .memory = memory, .file = file, .size = size};
    (void)sigemptyset(&faults);
    (void)sigaddset(&faults, SIGSEGV);
    mirror->writers = alloc(memory->size / CODE_PAGE, sizeof *mirror->writers);
    if (file < 0 || sysconf(_SC_PAGESIZE) != CODE_PAGE || sigaction(SIGSEGV, &action, NULL) != 0 ||
        pthread_sigmask(SIG_UNBLOCK, &faults, NULL) !=
            0) /* whoever started the emulator may have blocked it */
        return;
    void *bytes =
        mmap(NULL, size + MIRROR_GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    mirror->bytes = bytes == MAP_FAILED ? NULL : bytes;
}

void mirror_free(struct mirror *mirror)
{
    if (mirror->bytes)
        (void)munmap(mirror->bytes, mirror->size + MIRROR_GUARD);
    free(mirror->writers);
    *mirror = (struct mirror){0};
}

/* Maps nothing at a range of the mirror. */
static bool clear(uint8_t *at, uint64_t size)
{
    return mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) !=
           MAP_FAILED;
}

/* Shows nothing from now on. */
static void end(struct mirror *mirror)
{
    /* A host that has no more mappings refuses even to replace all by one, but not to take their permissions away. */
    if (mirror->bytes && !clear(mirror->bytes, mirror->size) &&
        mprotect(mirror->bytes, mirror->size, PROT_NONE) != 0)
        abort();
    mirror->shows = false;
}

static bool has_code(const struct mirror *mirror, uint64_t physical, uint64_t size)
{
    for (uint64_t done = 0; done < size; done += CODE_PAGE)
        if (phys_has_code(mirror->memory, physical + done))
            return true;
    return false;
}

void mirror_show(struct mirror *mirror, uint64_t first, uint64_t last, uint64_t physical, unsigned rights)
{
    const uint64_t size = last - first;
    bool writes = rights & MIRROR_WRITE, shown;
    if (!mirror->shows || first >= last)
        return;
    if ((writes && has_code(mirror, physical, size)) || ++mirror->changes > MOST_CHANGES)
        shown = false;
    else if (!mirror->bytes)
        return;
    else if (rights == 0)
        shown = clear(mirror->bytes + first, size);
    else
        shown = mmap(mirror->bytes + first, size, PROT_READ | (writes ? PROT_WRITE : 0),
                     MAP_SHARED | MAP_FIXED | MAP_NORESERVE, mirror->file,
                     (off_t)(physical - mirror->memory->base)) != MAP_FAILED;
    if (!shown)
        end(mirror);
}
