#include "emu/machine/root.h"

#include <stdio.h>

#include "emu/core/config.h"
#include "emu/dev/device.h"
#include "emu/dram/config.h"
#include "emu/machine/system.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/nucd/config.h"
#include "emu/sim/text.h"
#include "emu/simt/simt.h"
#include "linker/map.h"

#define PLACE(tag, member) offsetof(struct tag, member), sizeof(((struct tag *)0)->member)
#define COUNT_OF(rows)     (sizeof(rows) / sizeof *(rows))

/* Explanations of kinds that fill one role only; the role has the same explanation. */
#define MEMORY_MEANING  "Main memory: one contiguous range of physical addresses."
#define MMU_MEANING     "Address translation: Sv39 and Sv48."
#define DEVICES_MEANING "Devices for programs in machine mode; user programs do not use them."

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
    .explanation = MEMORY_MEANING,
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

static const struct part_kind stack_kind = {
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

static const struct part_kind mmu_kind = {
    .name = "mmu",
    .explanation = MMU_MEANING,
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

static const struct part_kind devices_kind = {
    .name = "devices",
    .explanation = DEVICES_MEANING,
    .config_size = sizeof(struct devices_config),
    .fields = devices_fields,
    .field_count = COUNT_OF(devices_fields),
    .functional = "",
    .roles = devices_roles,
};

static const struct part_field root_fields[] = {
    {"name",
     FIELD_TEXT,
     PLACE(root_config, name),
     "",
     "",
     "",
     NULL,
     {"", ""},
     0,
     "Name of the machine in statistics; default: the file's name without .yaml. Not inherited.",
     {"", ""}},
    {"description",
     FIELD_TEXT,
     PLACE(root_config, description),
     "",
     "",
     "",
     NULL,
     {"", ""},
     0,
     "One line for the list of machines. Not inherited.",
     {"", ""}},
    {"harts",
     FIELD_COUNT,
     PLACE(root_config, harts),
     "1",
     TEXT_VALUE(ROOT_HARTS),
     "1",
     NULL,
     {NULL, NULL},
     0,
     "Number of hardware threads: 1, or all cores of a timed machine. More than 1 require devices.clint.",
     {"the number of cores", "the number of cores"}},
    {"quantum",
     FIELD_COUNT,
     PLACE(root_config, quantum),
     TEXT_VALUE(SYSTEM_QUANTUM_MIN),
     "1000000000",
     "1",
     NULL,
     {"10000", "10000"},
     0,
     "Instructions in a hart's turn. LR reservations end with the turn; " TEXT_VALUE(
         SYSTEM_QUANTUM_MIN) " suffice for LR/SC loops to make progress.",
     {"ours", "ours"}},
    {"homes",
     FIELD_TEXT,
     PLACE(root_config, homes),
     "",
     "",
     "",
     NULL,
     {NULL, NULL},
     0,
     "Address map of several memories: like dram.map, with M module and S stack. One memory uses dram.map.",
     {"", ""}},
    {"stack_hash",
     FIELD_BOOL,
     PLACE(root_config, stack_hash),
     "",
     "",
     "",
     NULL,
     {"false", "false"},
     0,
     "Row bits are XORed into the stack's number, if there are several memories.",
     {"ours", "ours"}},
    {"pages",
     FIELD_TEXT,
     PLACE(root_config, pages),
     "",
     "",
     "",
     NULL,
     {"", ""},
     0,
     "Table of 4 KiB pages and the memories that hold them, as `croft pages --place` writes; \"\": as "
     "`homes` has them.",
     {"", ""}},
};

/* Derives `harts` as 1; machine.c counts the cores of a timed machine. */
static void derive(void *part, const bool given[])
{
    struct root_config one = {.harts = 1};
    part_take(&root_kind, 0, part, &one, given);
}

static void note(const void *config, const struct part_field *field, char *buffer, size_t size)
{
    const struct root_config *root = config;
    bool homes = field->offset == offsetof(struct root_config, homes);
    (void)snprintf(buffer, size, "%s",
                   !homes         ? field->source[0]
                   : *root->homes ? "dram.map, with the stack's and the module's bits above the controller's"
                                  : "default");
}

static const struct part_default host_defaults[] = {
    {"clock", "2 GHz", "ours: the NUCD paper names no clocks"},
    {NULL, NULL, NULL},
};
static const struct part_default accel_defaults[] = {
    {"memory", "crossbar", "NUCD paper, section IV"},
    {"core", "inorder", "NUCD paper, Table I"},
    {"clock", "1 GHz", "ours: the NUCD paper names no clocks"},
    {NULL, NULL, NULL},
};
static const struct part_default l2_defaults[] = {
    {"clock", "@host.0.clock", "the host's clock"},
    {NULL, NULL, NULL},
};

static const struct part_role root_roles[] = {
    {.name = "memory", .kind = &memory_kind, .explanation = MEMORY_MEANING},
    {.name = "user_stack",
     .kind = &stack_kind,
     .explanation = "The user program's stack, at the top of main memory."},
    {.name = "host",
     .kind = &core_kind,
     .many = true,
     .initial = "1",
     .most = TEXT_VALUE(ROOT_HARTS),
     .explanation = "The host processor: the cores that run the program.",
     .counts = "Number of cores; a user program runs on the first. The functional core ignores this key.",
     .defaults = host_defaults},
    {.name = "accel",
     .kind = &core_kind,
     .presence = PART_OPTIONAL,
     .many = true,
     .initial = "1",
     .most = TEXT_VALUE(CROFT_HARTS_MAX),
     .limit = "the stacks that their firmware has (CROFT_HARTS_MAX)",
     .explanation = "The accelerators: small cores on the logic layer of the memory stack.",
     .counts = "Number of accelerators; their harts follow the host's.",
     .defaults = accel_defaults},
    {.name = "nucd",
     .kind = &nucd_kind,
     .presence = PART_OPTIONAL,
     .explanation = "Offloading by nucd: the accelerators' task units and their firmware's memory."},
    {.name = "l2",
     .kind = &llc_kind,
     .presence = PART_TIMED,
     .explanation = "The host's shared last-level cache (L2), inclusive, with the MESI directory.",
     .defaults = l2_defaults},
    {.name = "simt",
     .kind = &simt_kind,
     .presence = PART_OPTIONAL,
     .explanation = "The multiprocessors of a GPU, which run launched threads in warps."},
    {.name = "crossbar",
     .kind = &crossbar_kind,
     .presence = PART_OPTIONAL,
     .explanation =
         "The crossbar between the host's coherent network, the accelerators and the memory controllers."},
    {.name = "dram",
     .kind = &dram_kind,
     .presence = PART_TIMED,
     .explanation = "The memory devices and their controllers, one per channel."},
    {.name = "mmu", .kind = &mmu_kind, .explanation = MMU_MEANING},
    {.name = "devices", .kind = &devices_kind, .explanation = DEVICES_MEANING},
    {.name = NULL},
};

const struct part_kind root_kind = {
    .name = "machine",
    .explanation = "A machine.",
    .config_size = sizeof(struct root_config),
    .fields = root_fields,
    .field_count = COUNT_OF(root_fields),
    .open = true,
    .roles = root_roles,
    .derive = derive,
    .note = note,
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
