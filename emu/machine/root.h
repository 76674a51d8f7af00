/* The kinds that a machine has for itself: the root of the tree, memory, stack, translation, devices, and groups. */
#ifndef EMU_MACHINE_ROOT_H
#define EMU_MACHINE_ROOT_H

#include "emu/sim/part.h"

enum { ROOT_TEXT = 256, ROOT_HARTS = 512, ROOT_QUANTUM_MIN = 100 };

enum mmu_ad { MMU_AD_HARDWARE, MMU_AD_FAULT };

struct root_config {
    char name[ROOT_TEXT], description[ROOT_TEXT];
    uint32_t harts;
    uint64_t quantum;
    char homes[96]; /* HOME_TEXT; empty: derived */
};

struct memory_config {
    uint64_t base, size;
};

struct stack_config {
    uint64_t size;
};

struct mmu_config {
    enum mmu_ad ad;
};

struct devices_config {
    uint64_t latency;
};

/* The kind of the root, whose roles are what shipped machines consist of. */
extern const struct part_kind root_kind;

/* Parts that belong together: a stack, a module. */
extern const struct part_kind group_kind;

#endif
