/* The kinds defined by the machine itself: the root of the tree, memory, stack, address translation, devices,
 * and groups. */
#ifndef EMU_MACHINE_DESCRIBE_ROOT_H
#define EMU_MACHINE_DESCRIBE_ROOT_H

#include "emu/mem/home.h"
#include "emu/sim/part.h"

#define ROOT_HARTS 512 /* most harts of a machine */

/* Size of main memory in bytes: the default (threads' stacks may raise it), and the limit. */
#define ROOT_MEMORY      (UINT64_C(1) << 30)
#define ROOT_MEMORY_MOST (UINT64_C(1) << 40)

enum { ROOT_TEXT = 256 };

enum mmu_ad { MMU_AD_HARDWARE, MMU_AD_FAULT };

struct root_config {
    char name[ROOT_TEXT], description[ROOT_TEXT];
    uint32_t harts;
    uint64_t quantum;
    char isa[ROOT_TEXT];   /* as isa_parse() takes it */
    char homes[HOME_TEXT]; /* struct home_layout's text; empty: one memory, or it cannot be derived */
    bool stack_hash;       /* as in struct home_layout */
    char pages[ROOT_TEXT]; /* file of a table (pages.h); empty: none */
};

struct memory_config {
    uint64_t base, size;
};

struct user_stack_config {
    uint64_t size;
};

struct mmu_config {
    enum mmu_ad ad;
};

struct devices_config {
    uint64_t latency;
};

/* Explanations of kinds that fill one role only; the role has the same explanation. */
#define ROOT_MEMORY_MEANING  "Main memory: one contiguous range of physical addresses."
#define ROOT_MMU_MEANING     "Address translation: Sv39 and Sv48."
#define ROOT_DEVICES_MEANING "Devices for programs in machine mode; user programs do not use them."

/* The root's kind. Its roles are the parts of the shipped machines (kinds.c). */
extern const struct part_kind root_kind;
extern const struct part_role root_roles[];

/* Main memory; what user programs and hosts have; the board. */
extern const struct part_kind memory_kind, user_stack_kind, mmu_kind, devices_kind;

/* A group of parts, for example a stack or a module. */
extern const struct part_kind group_kind;

#endif
