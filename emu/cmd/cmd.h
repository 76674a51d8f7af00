/* The subcommands of croft. Each takes its own argument vector (argv[0] is its name) and returns the exit
 * status. */
#ifndef EMU_CMD_CMD_H
#define EMU_CMD_CMD_H

#include <stddef.h>

#include "emu/cmd/options.h"

struct engine_machine;
struct error;
struct tree;

/* A subcommand. */
struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help; /* one line */
    const struct option_set *interface;
};

int cmd_run(int argc, char **argv); /* runs a program on a machine */
/* Like cmd_run(), but writes the statistics to the open file `statistics`, unless that is -1, and uses `machine` if it was
 * loaded from the same name and settings. machine may be NULL. */
int run_measured(int argc, char **argv, int statistics, const struct engine_machine *machine);
int cmd_candidates(int argc, char **argv); /* finds code worth executing near memory */
int cmd_cc(int argc, char **argv);         /* compiles and links programs */
int cmd_cxx(int argc, char **argv);        /* compiles and links C++ programs for Linux */
int cmd_disasm(int argc, char **argv);     /* disassembles a program or single words */
int cmd_machines(int argc, char **argv);   /* lists the shipped machines */
int cmd_experiment(int argc,
                   char **argv);        /* runs programs on variants of a machine, and tabulates statistics */
int cmd_report(int argc, char **argv);  /* makes a page of results */
int cmd_net(int argc, char **argv);     /* drives a network alone */
int cmd_dram(int argc, char **argv);    /* drives a memory alone */
int cmd_neural(int argc, char **argv);  /* trains networks that approximate functions */
int cmd_pages(int argc, char **argv);   /* tells how blocks of threads share pages */
int cmd_show(int argc, char **argv);    /* prints a machine's resolved description */
int cmd_version(int argc, char **argv); /* prints version and compiler */

/* Their interfaces. */
extern const struct option_set run_interface, cc_interface, cxx_interface, experiment_interface,
    report_interface, net_interface, dram_interface, neural_interface, candidates_interface, pages_interface,
    disasm_interface, machines_interface, show_interface, version_interface;

/* Loads croft net's description of a network. Returns NULL with err set on failure. Free with tree_free(). */
struct tree *net_tree(const char *file, const char *const *sets, size_t set_count, struct error *err);

/* Loads croft dram's description of a memory, or a standard. Returns NULL with err set on failure. Free with tree_free(). */
struct tree *dram_tree(const char *memory, const char *const *sets, size_t set_count, struct error *err);

#endif
