/* The multiprocessors of a machine as its keys describe them. */
#ifndef EMU_MACHINE_PARTS_SIMT_H
#define EMU_MACHINE_PARTS_SIMT_H

#include "emu/machine/machine.h"
#include "emu/mem/llc.h"
#include "emu/net/crossbar.h"
#include "emu/simt/simt.h"

struct parts_simt {
    struct simt_config core;
    struct cache_config l1;
    struct crossbar_config crossbar; /* inputs: multiprocessors; outputs: slices */
    struct llc_config l2;            /* each slice */
};

void parts_simt(const struct machine_config *config, struct parts_simt *simt);

/* Gives the section's automatic keys their values. */
void parts_simt_resolve(struct machine_config *config);

/* Fails as parts_check() does; for machines that have multiprocessors. *section is where the field is that the message
 * begins with, or NULL when the message begins with a key's whole name. */
bool parts_simt_check(const struct machine_config *config, const char **section, struct error *err);

/* Whence an automatic key's value comes; NULL for other keys. */
const char *parts_simt_note(const char *name);

#endif
