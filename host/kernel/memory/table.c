#include "host/kernel/memory/table.h"

#include <croft/firmware/map.h>

#include "host/kernel/driver/device.h"
#include "host/kernel/memory/pages.h"

enum {
    V = 1,
    R = 2,
    W = 4,
    X = 8,
    U = 16,
    G = 32,
    A = 64,
    D = 128,
    HELD = 256 /* HELD, a software bit: has a page */
};
enum {
    ENTRIES = 512,
    ENTRY_SHIFT = 10,
    LEVEL_BITS = 9,
    LEVELS = 3,
    MEGAPAGE_SHIFT = 21,
    GIGAPAGE_SHIFT = 30
};

#define INDEX(address, level) ((address) >> (PAGE_SHIFT + LEVEL_BITS * (level)) & (ENTRIES - 1))
#define ENTRY(physical, bits) ((physical) >> PAGE_SHIFT << ENTRY_SHIFT | (bits))

/* The table that start.S turns on: maps the kernel's gigapage with all permissions. */
table_entry table_root[ENTRIES] __attribute__((aligned(PAGE))) = {
    [INDEX(CROFT_KERNEL_BASE, 2)] = ENTRY((uint64_t)CROFT_DRAM_BASE, V | R | W | X | G | A | D),
};

/* The two tables below the root cover 2 MiB; the linker script checks that the image is smaller. */
static table_entry kernel_middle[ENTRIES] __attribute__((aligned(PAGE)));
static table_entry kernel_last[ENTRIES] __attribute__((aligned(PAGE)));

/* The last gigapage, which neither memory nor the kernel uses. */
#define DEVICES_BASE UINT64_C(0xffffffffc0000000)
static table_entry devices_middle[ENTRIES] __attribute__((aligned(PAGE)));

extern char kernel_text[], kernel_text_end[], kernel_rodata_end[], kernel_end[], kernel_stack_guard[];

static uint64_t physical_of(const void *at)
{
    return (uint64_t)at - CROFT_KERNEL_BASE + CROFT_DRAM_BASE;
}

static void map_kernel(const char *first, const char *end, table_entry bits)
{
    for (const char *at = first; at < end; at += PAGE)
        kernel_last[INDEX((uint64_t)at, 0)] = ENTRY(physical_of(at), bits | V | G | A);
}

void table_init(uint64_t memory_size)
{
    uint64_t gigapages = ((memory_size - 1) >> GIGAPAGE_SHIFT) + 1;
    for (uint64_t i = 0; i < gigapages; i++)
        table_root[INDEX(CROFT_DIRECT_BASE, 2) + i] =
            ENTRY(CROFT_DRAM_BASE + (i << GIGAPAGE_SHIFT), V | R | W | G | A | D);
    map_kernel(kernel_text, kernel_text_end, R | X);
    map_kernel(kernel_text_end, kernel_rodata_end, R);
    map_kernel(kernel_rodata_end, kernel_end, R | W | D);
    kernel_last[INDEX((uint64_t)kernel_stack_guard, 0)] = 0;
    kernel_middle[INDEX(CROFT_KERNEL_BASE, 1)] = ENTRY(physical_of(kernel_last), V);
    table_root[INDEX(CROFT_KERNEL_BASE, 2)] = ENTRY(physical_of(kernel_middle), V);
    table_synchronize();
}

uint64_t table_map_devices(uint64_t physical)
{
    static unsigned used; /* entries of devices_middle */
    const uint64_t size = UINT64_C(1) << MEGAPAGE_SHIFT, offset = physical % size,
                   at = DEVICES_BASE + used * size;
    for (unsigned i = 0; i < 2; i++) /* the devices may extend beyond the first megapage */
        devices_middle[used++] = ENTRY(physical - offset + i * size, V | R | W | G | A | D);
    table_root[INDEX(DEVICES_BASE, 2)] = ENTRY(physical_of(devices_middle), V);
    table_synchronize();
    return at + offset;
}

static table_entry *roots[KERNEL_HOSTS]; /* of other hosts */
static unsigned root_count;

void table_add_root(table_entry *root)
{
    memcpy(root, table_root, PAGE);
    root[INDEX(DEVICES_AT, 2)] = 0;
    roots[root_count++] = root;
}

table_entry *table_slot_in(table_entry *root, uint64_t address, bool make)
{
    table_entry *table = root;
    for (unsigned level = LEVELS - 1; level > 0; level--) {
        table_entry *entry = &table[INDEX(address, level)];
        if (!(*entry & V)) {
            uint64_t page = make ? pages_take(1) : 0;
            if (!page)
                return NULL;
            pages_zero(page);
            *entry = ENTRY(page, V);
        }
        table = pages_at(table_page(*entry));
    }
    return &table[INDEX(address, 0)];
}

table_entry *table_slot(uint64_t address, bool make)
{
    table_entry *slot = table_slot_in(table_root, address, make);
    for (unsigned i = 0; i < root_count; i++)
        roots[i][INDEX(address, 2)] = table_root[INDEX(address, 2)];
    return slot;
}

table_entry table_entry_of(uint64_t physical, uint32_t permissions)
{
    table_entry bits = HELD;
    if (permissions & CROFT_RANGE_ACCESS)
        bits |= V | U | A;
    if (permissions & (CROFT_RANGE_READ | CROFT_RANGE_WRITE))
        bits |= R; /* W without R is reserved */
    if (permissions & CROFT_RANGE_WRITE)
        bits |= W | D;
    if (permissions & CROFT_RANGE_EXECUTE)
        bits |= X;
    return ENTRY(physical, bits);
}

uint64_t table_page(table_entry entry)
{
    return entry >> ENTRY_SHIFT << PAGE_SHIFT;
}

bool table_allows(table_entry entry, uint32_t permission)
{
    table_entry wanted = permission == CROFT_RANGE_READ ? R : permission == CROFT_RANGE_WRITE ? W : X;
    return (entry & V) && (entry & wanted);
}
