/* `croft cc -foffload-loops`: rewrites the assembler of a source file so that loops run as tasks of accelerators. */
#ifndef EMU_CMD_CC_LOOPS_H
#define EMU_CMD_CC_LOOPS_H

#include <stdio.h>

#include "emu/cmd/code/assembly.h"
#include "emu/cmd/code/program.h"

#define CC_LOOPS_LEAST 16384 /* the defaults of -foffload-least, -foffload-cache, -foffload-ahead */
#define CC_LOOPS_CACHE 32768
#define CC_LOOPS_AHEAD 4

struct cc_loops_options {
    unsigned tasks, least; /* most tasks of a loop; fewest instructions that a loop must execute */
    unsigned cache,
        ahead;    /* bytes of an accelerator's data cache; rounds that prefetches are ahead, 0: none */
    bool debug;   /* keep debug information */
    FILE *report; /* a line for each loop; or NULL */
};

/* Writes the rewritten text to `out`. The program is the numbered assembler, linked alone. */
bool cc_loops_rewrite(const struct assembly *assembly, struct program *program,
                      const struct cc_loops_options *options, FILE *out, struct error *err);

#endif
