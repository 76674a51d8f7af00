/* Compares the kernel's table of ranges with its page tables at many moments of a run: translations by the
 * table must equal the hart's. argv: the folder of croft's files, a program, its arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/env/kernel.h"
#include "emu/hart/mmu.h"

enum { SLICE = 2003, PAGE = 4096, PTE_R = 2, PTE_W = 4, PTE_X = 8, PTE_U = 16, PTE_V = 1 };

static unsigned long passed, failed, pages_seen, paged_seen;

static void check(bool good, const char *what, const struct croft_range *range, uint64_t address)
{
    if (good) {
        passed++;
        return;
    }
    if (failed++ < 10)
        printf("%s: range 0x%llx + 0x%llx, at 0x%llx\n", what, (unsigned long long)range->base,
               (unsigned long long)range->size, (unsigned long long)address);
}

/* Returns the page-table entry that maps a page of the program, or 0. */
static uint64_t entry_of(const struct system *system, uint64_t address)
{
    struct mmu_walk walk;
    uint64_t entry = 0;
    mmu_list_walk(&system->harts[0], address, PRIV_U, &walk);
    if (walk.leaf)
        memcpy(&entry, phys_at(system->memory, walk.entries[walk.count - 1], 8), 8);
    return entry;
}

static void check_page(const struct croft_range *range, uint64_t address, uint64_t entry)
{
    uint64_t physical = entry >> 10 << 12;
    uint32_t allowed = (entry & PTE_R ? CROFT_RANGE_READ : 0u) | (entry & PTE_W ? CROFT_RANGE_WRITE : 0u) |
                       (entry & PTE_X ? CROFT_RANGE_EXECUTE : 0u);
    pages_seen++;
    check((entry & PTE_U) && allowed == (range->permissions & CROFT_RANGE_ACCESS), "permissions", range,
          address);
    if (range->physical == CROFT_RANGE_PAGED)
        paged_seen++;
    else
        check(physical == range->physical + (address - range->base), "translation", range, address);
}

static bool overlap(const struct croft_range *a, const struct croft_range *b)
{
    return a->physical != CROFT_RANGE_PAGED && b->physical != CROFT_RANGE_PAGED &&
           a->physical < b->physical + b->size && b->physical < a->physical + a->size;
}

static void check_table(const struct system *system, const struct croft_range_table *table)
{
    uint64_t last = 0;
    for (uint64_t i = 0; i < table->count; i++) {
        const struct croft_range *range = &table->entries[i];
        check(range->base >= last && range->size > 0 && (range->base | range->size) % PAGE == 0, "order",
              range, last);
        for (uint64_t k = 0; k < i; k++)
            check(!overlap(range, &table->entries[k]), "memory twice in use", range, table->entries[k].base);
        /* Nothing may be mapped between the previous range and this one. */
        for (uint64_t at = last > range->base - 64 * PAGE ? last : range->base - 64 * PAGE; at < range->base;
             at += PAGE)
            check(entry_of(system, at) == 0, "mapped outside", range, at);
        last = range->base + range->size;
        for (uint64_t at = range->base; at < last; at += PAGE) {
            uint64_t entry = entry_of(system, at);
            if (entry & PTE_V)
                check_page(range, at, entry);
            else
                check(!(range->permissions & CROFT_RANGE_PRESENT) ||
                          !(range->permissions & CROFT_RANGE_ACCESS),
                      "present", range, at);
        }
    }
}

static int run(const char *folder, const char *const *arguments, size_t count, struct error *err)
{
    char machines[4096], image[4096];
    struct machine_config machine;
    (void)snprintf(machines, sizeof machines, "%s/machines", folder);
    (void)snprintf(image, sizeof image, "%s/kernel/kernel.elf", folder);
    static const char *const sets[] = {"memory.size=64 MiB"};
    if (!machine_load(&machine, "functional", machines, sets, 1, err))
        return 1;
    const struct user_options user = {.program = arguments[0],
                                      .arguments = arguments,
                                      .argument_count = count,
                                      .dir = ".",
                                      .stack_size = machine.stack->size,
                                      .max_insns = UINT64_MAX};
    const struct kernel_options options = {.image = image, .machine = &machine, .user = &user};
    struct kernel *kernel = kernel_new(&options, err);
    if (!kernel)
        return 1;
    /* Only in user mode: while the kernel works, its table may be ahead of its page tables. */
    struct system *system = kernel_system(kernel);
    enum system_stop stop;
    while ((stop = system_run(system, SLICE)) == SYSTEM_LIMIT)
        if (kernel_ranges(kernel) && system->harts[0].privilege == PRIV_U)
            check_table(system, kernel_ranges(kernel));
    check_table(system, kernel_ranges(kernel));
    int status = kernel_finish(kernel, stop);
    kernel_free(kernel);
    machine_free(&machine);
    return status;
}

int main(int argc, char **argv)
{
    struct error err = {""};
    if (argc < 3)
        return 2;
    int status = run(argv[1], (const char *const *)&argv[2], (size_t)argc - 2, &err);
    printf("status %d %s, %lu pages, %lu of them in paged ranges\n", status, err.text, pages_seen,
           paged_seen);
    printf("%lu passed, %lu failed\n", passed, failed);
    return failed || status ? 1 : 0;
}
