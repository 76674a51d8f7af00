#include "emu/env/kernel/load.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "emu/env/guest/guest.h"
#include "emu/env/loader/elf.h"
#include "emu/env/loader/stack.h"
#include "emu/env/tasks_part.h"
#include "emu/simt/grid/launch.h"
#include "isa/include/croft/door.h"
#include "linker/map.h"

enum {
    PAGE = 4096,
    /* Bytes. Kernel, boot block and bitmap take a multiple of this, so that the program's physical addresses,
     * and thus its times, do not depend on the kernel's exact size. */
    KERNEL_ROOM = 256 << 10,
};

/* The kernel maps physical memory one to one below itself. */
#define MEMORY_MAX (CROFT_KERNEL_BASE - CROFT_DIRECT_BASE)
#define KERNEL_AT  ((uint64_t)CROFT_DRAM_BASE)

static_assert(ELF_READ == 4 && KERNEL_SEGMENTS >= 2 * ELF_SEGMENTS + 1, "each segment may share two pages");

static uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

static uint64_t page_up(uint64_t address)
{
    return page_down(address + PAGE - 1);
}

static uint32_t permissions_of(unsigned elf)
{
    uint32_t set = elf & ELF_EXECUTE ? CROFT_RANGE_EXECUTE : 0;
    set |= elf & (ELF_READ | ELF_WRITE) ? CROFT_RANGE_READ : 0;
    return set | (elf & ELF_WRITE ? CROFT_RANGE_WRITE : 0);
}

/* Adds the pages of a segment; segments come in ascending order. A page shared with the previous segment gets
 * the permissions of both. */
static void add_segment(struct kernel_boot *boot, struct kernel_segment segment)
{
    struct kernel_segment *last = boot->segment_count ? &boot->segments[boot->segment_count - 1] : NULL;
    if (last && segment.first < last->end) {
        struct kernel_segment shared = *last;
        shared.first = last->end - PAGE;
        shared.physical += shared.first - last->first;
        shared.filled_first = shared.first;
        shared.filled_end = shared.end;
        shared.permissions |= segment.permissions;
        last->end = shared.first;
        if (last->filled_end > last->end)
            last->filled_end = last->end;
        if (last->first == last->end)
            boot->segment_count--;
        boot->segments[boot->segment_count++] = shared;
        segment.physical += shared.end - segment.first;
        segment.first = segment.filled_first = shared.end;
        if (segment.filled_end < segment.first)
            segment.filled_end = segment.first;
    }
    if (segment.first < segment.end)
        boot->segments[boot->segment_count++] = segment;
}

/* Adds the program's segments by ascending address. Its byte at virtual address v is at physical address v +
 * offset. */
static void add_program(struct kernel_boot *boot, const struct elf_program *program, uint64_t offset)
{
    uint64_t above = 0;
    for (size_t n = 0; n < program->range_count; n++) {
        size_t next = SIZE_MAX;
        for (size_t i = 0; i < program->range_count; i++)
            if (program->ranges[i].first >= above &&
                (next == SIZE_MAX || program->ranges[i].first < program->ranges[next].first))
                next = i;
        assert(next != SIZE_MAX);
        uint64_t first = page_down(program->ranges[next].first);
        add_segment(
            boot, (struct kernel_segment){.first = first,
                                          .end = page_up(program->ranges[next].end),
                                          .physical = first + offset,
                                          .filled_first = first,
                                          .filled_end = page_up(program->contents[next].bytes_end),
                                          .permissions = permissions_of(program->contents[next].permissions),
                                          .use = CROFT_USE_PROGRAM});
        above = program->ranges[next].end;
    }
}

static bool check_machine(const struct phys *memory, struct error *err)
{
    if (memory->base != KERNEL_AT)
        return error_set(
            err, "memory.base: --env kernel needs 0x%" PRIx64 ", where the kernel is linked, not 0x%" PRIx64,
            KERNEL_AT, memory->base);
    if (memory->size > MEMORY_MAX)
        return error_set(err,
                         "memory.size: --env kernel can use 254 GiB at most (the kernel's half of Sv39)");
    return true;
}

unsigned kernel_hosts(const struct kernel_options *options)
{
    const struct machine_config *machine = options->machine;
    unsigned hosts = machine_timed(machine)
                         ? machine->host_count
                         : (unsigned)machine->harts - tasks_count(machine->tree, options->firmware);
    if (hosts < 1)
        return 1;
    return hosts < KERNEL_HOSTS ? hosts : KERNEL_HOSTS;
}

/* Loads the kernel and places boot block and bitmap after it. */
static bool load_kernel(const struct kernel_options *options, struct phys *memory,
                        struct kernel_layout *layout, struct kernel_boot *boot, struct error *err)
{
    struct elf_program kernel;
    if (!elf_load(&kernel, options->image, ELF_PHYSICAL, &(struct bytes){memory, NULL}, err))
        return false;
    layout->kernel_entry = kernel.entry;
    layout->boot = page_up(kernel.end);
    boot->memory_base = memory->base;
    boot->multiprocessors = options->user->simt && options->user->simt->device;
    boot->hosts = kernel_hosts(options);
    boot->clint = options->machine->devices.clint ? options->machine->devices.clint->base : 0;
    boot->memory_size = memory->size;
    boot->bitmap = layout->boot + page_up(sizeof *boot);
    uint64_t used = boot->bitmap + (memory->size / PAGE + 63) / 64 * 8 - memory->base;
    boot->used_end = layout->kernel_end = memory->base + (used + KERNEL_ROOM - 1) / KERNEL_ROOM * KERNEL_ROOM;
    return true;
}

/* Loads the program after the kernel, and places its stack at the end of memory, where virtual and physical
 * addresses are equal. */
static bool load_program(const struct kernel_options *options, struct phys *memory,
                         struct kernel_layout *layout, struct kernel_boot *boot, struct error *err)
{
    const struct user_options *user = options->user;
    uint64_t offset = layout->kernel_end - memory->base, end = memory->base + memory->size;
    uint64_t needed = offset + user->stack_size + KERNEL_STACK_GAP;
    if (needed >= memory->size)
        return error_set(
            err,
            "memory.size: the kernel (%" PRIu64 " bytes) and a stack of %" PRIu64
            " bytes with the gap beneath it leave no room for a program; enlarge memory.size or make "
            "user_stack.size smaller",
            offset, user->stack_size);
    struct phys window =
        phys_view(memory, memory->base + offset, page_down(memory->size - needed), memory->base);
    struct elf_program program;
    if (!elf_load(&program, user->program, ELF_VIRTUAL, &(struct bytes){&window, NULL}, err))
        return false;
    const struct stack_contents contents = {.arguments = user->arguments,
                                            .argument_count = user->argument_count,
                                            .environment = user->environment,
                                            .environment_count = user->environment_count,
                                            .program = &program};
    if (!stack_build(memory, user->stack_size, &contents, &boot->sp, err))
        return error_prefix(err, "%s", user->program);
    boot->entry = program.entry;
    boot->break_start = page_up(program.end);
    boot->break_physical = boot->break_start + offset;
    layout->stack_first = page_down(end - user->stack_size);
    boot->map_top = layout->stack_first - KERNEL_STACK_GAP;
    if (!guest_leaves_reserved(user, program.end + offset, boot->map_top, err))
        return false;
    add_program(boot, &program, offset);
    if (user->reserved_end)
        add_segment(boot, (struct kernel_segment){.first = user->reserved,
                                                  .end = user->reserved_end,
                                                  .physical = user->reserved,
                                                  .permissions = CROFT_RANGE_READ | CROFT_RANGE_WRITE,
                                                  .use = CROFT_USE_UNITS});
    add_segment(boot, (struct kernel_segment){.first = layout->stack_first,
                                              .end = end,
                                              .physical = layout->stack_first,
                                              .filled_first = page_down(boot->sp),
                                              .filled_end = end,
                                              .permissions = CROFT_RANGE_READ | CROFT_RANGE_WRITE,
                                              .use = CROFT_USE_STACK});
    return true;
}

bool kernel_load(const struct kernel_options *options, struct phys *memory, struct kernel_layout *layout,
                 struct error *err)
{
    const uint64_t tick = SYSTEM_TICK_NS * UINT64_C(1000000); /* in fs */
    struct kernel_boot boot = {0};
    tasks_boot(options->machine->tree, options->firmware, tick, &boot);
    if (!check_machine(memory, err) || !load_kernel(options, memory, layout, &boot, err) ||
        !load_program(options, memory, layout, &boot, err))
        return false;
    (void)bytes_write(&(struct bytes){memory, NULL}, layout->boot, &boot, sizeof boot);
    return true;
}
