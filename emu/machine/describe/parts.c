/* The kinds of parts that the machine itself defines, except the root: main memory, a user program's stack, address
 * translation, devices, and groups. */
#include <stdio.h>

#include "emu/dev/device.h"
#include "emu/dram/config.h"
#include "emu/machine/describe/root.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/sim/text/text.h"
#include "emu/simt/multiprocessor.h"
#include "linker/map.h"

#define PLACE(tag, member) offsetof(struct tag, member), sizeof(((struct tag *)0)->member)
#define COUNT_OF(rows)     (sizeof(rows) / sizeof *(rows))

static const struct part_field memory_fields[] = {
    {"base",
     FIELD_ADDRESS,
     PLACE(memory_config, base),
     "0x0",
     "0xfffffffffff000",
     "0x1000",
     NULL,
     {TEXT_VALUE(CROFT_DRAM_BASE), TEXT_VALUE(CROFT_DRAM_BASE)},
     0,
     "Address of the first byte. Programs made by croft cc are linked at " TEXT_VALUE(CROFT_DRAM_BASE) ".",
     {"", ""}},
    {"size",
     FIELD_SIZE,
     PLACE(memory_config, size),
     "128 KiB",
     "1 TiB",
     "4 KiB",
     NULL,
     {NULL, NULL},
     0,
     "Size: 1 GiB, or more for the stacks of threads; the emulator allocates each page on its first write.",
     {"", ""}},
};

static void derive_memory(void *part, const bool given[])
{
    const struct memory_config one = {
        .size = ROOT_MEMORY}; /* machine.c raises it if the threads' stacks need more */
    part_take(&memory_kind, 0, part, &one, given);
}

static void note_memory(const void *config, const struct part_field *field, char *buffer, size_t size)
{
    const struct memory_config *memory = config;
    (void)field;
    (void)snprintf(buffer, size, "%s",
                   memory->size == ROOT_MEMORY
                       ? "default"
                       : "twice what the stacks of threads take (simt.stack), if dram has room");
}

const struct part_kind memory_kind = {
    .name = "memory",
    .explanation = ROOT_MEMORY_MEANING,
    .config_size = sizeof(struct memory_config),
    .fields = memory_fields,
    .field_count = COUNT_OF(memory_fields),
    .derive = derive_memory,
    .note = note_memory,
};

static const struct part_field stack_fields[] = {
    {"size",
     FIELD_SIZE,
     PLACE(user_stack_config, size),
     "64 KiB",
     "1 GiB",
     "4 KiB",
     NULL,
     {"8 MiB", "8 MiB"},
     0,
     "Memory reserved for the stack; less than memory.size.",
     {"the default of Linux", "the default of Linux"}},
};

const struct part_kind user_stack_kind = {
    .name = "user_stack",
    .explanation = "The stack of a user program.",
    .config_size = sizeof(struct user_stack_config),
    .fields = stack_fields,
    .field_count = COUNT_OF(stack_fields),
};

static const char *const ad_names[] = {[MMU_AD_HARDWARE] = "hardware", [MMU_AD_FAULT] = "fault", NULL};

/* Privileged specification 1.12, section 4.3.1: both behaviours are allowed for a page whose A or D bit is
 * 0. */
static const struct part_field mmu_fields[] = {
    {"ad",
     FIELD_CHOICE,
     PLACE(mmu_config, ad),
     "",
     "",
     "",
     ad_names,
     {"hardware", "hardware"},
     0,
     "If a page's A or D bit is 0: hardware sets it, as QEMU does; fault raises a page fault.",
     {"", ""}},
};

const struct part_kind mmu_kind = {
    .name = "mmu",
    .explanation = ROOT_MMU_MEANING,
    .config_size = sizeof(struct mmu_config),
    .fields = mmu_fields,
    .field_count = COUNT_OF(mmu_fields),
};

static const struct part_field devices_fields[] = {
    {"latency",
     FIELD_TIME,
     PLACE(devices_config, latency),
     "0 fs",
     "1 ms",
     "1 fs",
     NULL,
     {"100 ns", "100 ns"},
     0,
     "Latency of a core's load from or store to a device.",
     {"ours: about the latency of a device behind two bridges",
      "ours: about the latency of a device behind two bridges"}},
};

#define DEVICE(tag, text)                                                                                    \
    {                                                                                                        \
        .name = #tag, .kind = &tag##_kind, .presence = PART_OPTIONAL, .explanation = text                    \
    }
static const struct part_role devices_roles[] = {
    DEVICE(rom, "Boot ROM, 60 KiB: the harts start in it, and it jumps to the firmware."),
    DEVICE(finisher, "Test finisher (SiFive): a store to it ends or restarts the run."),
    DEVICE(rtc, "Real-time clock (goldfish), which follows simulated time."),
    DEVICE(clint, "Core-local interruptor (CLINT): software interrupts and the timer, 10 MHz."),
    DEVICE(plic, "Platform-level interrupt controller (PLIC): 96 sources; contexts M and S of each hart."),
    DEVICE(uart, "Serial port (NS16550A): the console."),
    {.name = "disk",
     .kind = &disk_kind,
     .presence = PART_OPTIONAL,
     .many = true,
     .initial = "1",
     .most = TEXT_VALUE(DISK_MOST),
     .counts = "Number of disks.",
     .explanation = "virtio block device: a disk in a file."},
    DEVICE(entropy, "virtio entropy device, whose bytes follow from a seed."),
    {.name = "console",
     .kind = &virtio_console_kind,
     .presence = PART_OPTIONAL,
     .explanation = "virtio console, beside the serial port."},
    DEVICE(net, "virtio network device: a cable to a Unix socket, or to nowhere."),
    {.name = NULL},
};

const struct part_kind devices_kind = {
    .name = "devices",
    .explanation = ROOT_DEVICES_MEANING,
    .config_size = sizeof(struct devices_config),
    .fields = devices_fields,
    .field_count = COUNT_OF(devices_fields),
    .functional = "",
    .roles = devices_roles,
};

/* A group can contain what belongs near a memory. */
static const struct part_role group_roles[] = {
    {.name = "l2",
     .kind = &llc_kind,
     .presence = PART_OPTIONAL,
     .explanation = "A last-level cache of the group's cores."},
    {.name = "simt", .kind = &simt_kind, .presence = PART_OPTIONAL, .explanation = "Multiprocessors."},
    {.name = "crossbar",
     .kind = &crossbar_kind,
     .presence = PART_OPTIONAL,
     .explanation = "The group's crossbar."},
    {.name = "dram",
     .kind = &dram_kind,
     .presence = PART_OPTIONAL,
     .explanation = "The group's memory devices and their controllers, one per channel."},
    {.name = NULL},
};

const struct part_kind group_kind = {
    .name = "group",
    .explanation = "A group of parts.",
    .open = true,
    .roles = group_roles,
};
