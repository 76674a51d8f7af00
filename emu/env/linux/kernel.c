/* The kernel beneath a program of Linux (host/kernel/linux): its image, its harts and its door. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "emu/env/linux/state.h"
#include "emu/hart/priv.h"
#include "isa/include/croft/door.h"
#include "isa/include/croft/nucd_bits.h"

/* All of physical memory, in the upper half of Sv39 (as CROFT_DIRECT_BASE of linker/croft_map.ld, but at physical addresses). */
#define UPPER_HALF UINT64_C(0xffffffc000000000)

enum { X_S0 = 8, GIGAPAGE_SHIFT = 30, UPPER_ENTRY = 256, FRM_SHIFT = 5, FLAGS = 31 };

/* Page-table entry bits: valid, readable, writable, executable, global, accessed, dirty. */
enum { LEAF = 1 | 2 | 4 | 8 | 32 | 64 | 128, PPN_SHIFT = 10 };

bool kernel_load_image(struct process *process, struct error *err)
{
    const char *path = process->options->kernel;
    uint8_t *to = phys_at(&process->memory, process->stub, FRAME * (UINT64_C(1) + process->hosts));
    if (!to)
        return error_set(err, "memory.size: %" PRIu64 " KiB leave no room for the kernel; enlarge it",
                         process->memory.size / 1024);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd < 0 ? -1 : read(fd, to, FRAME);
    if (fd >= 0)
        (void)close(fd);
    return got > 0 || error_set(err, "cannot read the kernel '%s': %s", path, strerror(errno));
}

static uint64_t frame_at(const struct process *process, unsigned host)
{
    return process->stub + FRAME * (UINT64_C(1) + host);
}

void kernel_set_up_hart(const struct process *process, struct hart *hart)
{
    struct priv *priv = &hart->priv;
    priv->medeleg = 0xf1ff | UINT64_C(1) << CROFT_NUCD_CAUSE_FAULT | UINT64_C(1) << CROFT_NUCD_CAUSE_CALL;
    priv->mideleg = IRQ_S;
    priv->stvec = UPPER_HALF + process->stub + LINUX_KERNEL_TRAP;
    hart->pc = UPPER_HALF + process->stub + LINUX_KERNEL_IDLE;
    hart->x[X_S0] = UPPER_HALF + frame_at(process, hart->hartid);
    hart->privilege = PRIV_S;
}

void kernel_begin(const struct process *process, struct hart *hart)
{
    hart->priv.sscratch = UPPER_HALF + frame_at(process, hart->hartid);
}

void kernel_map(const struct process *process)
{
    const uint64_t first = process->stub >> GIGAPAGE_SHIFT,
                   last = (frame_at(process, process->hosts) - 1) >> GIGAPAGE_SHIFT;
    for (uint64_t i = first; i <= last; i++) {
        const uint64_t entry = i << (GIGAPAGE_SHIFT - 12 + PPN_SHIFT) | LEAF;
        memcpy(phys_at(&process->memory, process->space.root + (UPPER_ENTRY + i) * 8, 8), &entry, 8);
    }
}

/* Takes the program's registers from the frame. */
static void show_program(struct hart *hart, const struct linux_frame *frame)
{
    memcpy(hart->x, frame->x, sizeof frame->x);
    hart->priv.mepc = frame->pc;
    hart->priv.mcause = frame->cause;
    hart->priv.mtval = frame->value;
}

static void fill_frame(const struct hart *hart, struct linux_frame *frame)
{
    memcpy(frame->x, hart->x, sizeof frame->x);
    memcpy(frame->floats, hart->f, sizeof hart->f);
    frame->floats[32] = (uint64_t)hart->frm << FRM_SHIFT | (hart->fflags & FLAGS);
    frame->pc = hart->priv.mepc;
}

/* Returns what the kernel does next. */
static uint64_t next(struct process *process, unsigned host, int32_t before)
{
    const struct thread *thread = process->on[host];
    if (!thread)
        return LINUX_NEXT_IDLE;
    const uint64_t fence = process->fence[host] ? LINUX_NEXT_FENCE : 0;
    process->fence[host] = false;
    return fence | (thread->id == before ? 0 : LINUX_NEXT_SWITCH);
}

static struct linux_frame *frame_of(const struct process *process, unsigned host)
{
    return (void *)(process->memory.bytes + (frame_at(process, host) - process->memory.base));
}

struct kernel_visit kernel_enter(const struct process *process, struct hart *hart)
{
    const unsigned host = hart->hartid;
    struct kernel_visit visit = {.pc = hart->pc, .thread = process->on[host] ? process->on[host]->id : 0};
    memcpy(visit.x, hart->x, sizeof visit.x);
    show_program(hart, frame_of(process, host));
    return visit;
}

void kernel_leave(struct process *process, struct hart *hart, const struct kernel_visit *visit)
{
    const unsigned host = hart->hartid;
    fill_frame(hart, frame_of(process, host));
    phys_note_store(&process->memory, frame_at(process, host), sizeof(struct linux_frame));
    memcpy(hart->x, visit->x, sizeof visit->x);
    hart->pc = visit->pc;
    hart->x[X_A0] = next(process, host, visit->thread);
}
