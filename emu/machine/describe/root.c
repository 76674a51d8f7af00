/* The kind of the root of the tree. */
#include "emu/machine/describe/root.h"

#include <stdio.h>

#include "emu/machine/system.h"
#include "emu/sim/text/text.h"

#define PLACE(member)  offsetof(struct root_config, member), sizeof(((struct root_config *)0)->member)
#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static const struct part_field root_fields[] = {
    {"name",
     FIELD_TEXT,
     PLACE(name),
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
     PLACE(description),
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
     PLACE(harts),
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
     PLACE(quantum),
     TEXT_VALUE(SYSTEM_QUANTUM_MIN),
     "1000000000",
     "1",
     NULL,
     {"10000", "10000"},
     0,
     "Instructions in a hart's turn. LR reservations end with the turn; " TEXT_VALUE(
         SYSTEM_QUANTUM_MIN) " suffice for LR/SC loops to make progress.",
     {"ours", "ours"}},
    {"isa",
     FIELD_TEXT,
     PLACE(isa),
     "",
     "",
     "",
     NULL,
     {"all", "all"},
     0,
     "Extensions of all harts: an ISA string such as rv64gc_zba_zbb, a profile such as rva22u64, or all that "
     "there are.",
     {"", ""}},
    {"homes",
     FIELD_TEXT,
     PLACE(homes),
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
     PLACE(stack_hash),
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
     PLACE(pages),
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
