/* The parts of a timed machine as its keys describe them: each part's configuration from the keys of its
 * section, the keys' automatic values from the parts' own defaults, and the parts' checks as messages that
 * name keys. */
#ifndef EMU_MACHINE_PARTS_H
#define EMU_MACHINE_PARTS_H

#include "emu/core/inorder/inorder.h"
#include "emu/core/ooo/ooo.h"
#include "emu/core/tlb.h"
#include "emu/dram/config.h"
#include "emu/machine/machine.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"

/* Gives every key whose value is `auto` the one that follows from the others: the memory's from
 * dram.standard, the cores' from host.core and accel.core, those of other parts from the part's defaults,
 * harts from the cores. */
void parts_resolve(struct machine_config *config);

/* What the automatic value of a key follows, in a few words: "hbm1: JESD235: 8 channels a stack". */
void parts_note(const struct machine_config *config, int key, char *buffer, size_t size);

/* Fails when a part of a timed machine is impossible or parts do not fit together: the message begins with
 * where the key was set, and its name. */
bool parts_check(const struct machine_config *config, struct error *err);

/* Whether the cores of a section, "host" or "accel", are out of order; functional ones count as such. */
bool parts_are_ooo(const struct machine_config *config, const char *section);

/* Cores of both kinds. */
unsigned parts_cores(const struct machine_config *config);

/* A section "host" or "accel", with all that it holds. */
struct parts_core {
    bool ooo;
    uint64_t frequency; /* Hz */
    struct inorder_config inorder_config;
    struct ooo_config ooo_config;
    struct cache_config l1i, l1d;
    struct tlb_config tlb;
};

void parts_core(const struct machine_config *config, const char *section, struct parts_core *core);
void parts_llc(const struct machine_config *config, struct llc_config *llc);
void parts_crossbar(
    const struct machine_config *config,
    struct crossbar_config *crossbar); /* input 0: the host's; then one for each accelerator */
void parts_dram(const struct machine_config *config, struct dram_config *dram);

#endif
