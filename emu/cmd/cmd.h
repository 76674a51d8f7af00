/* The subcommands of croft: each takes its own argument vector (argv[0] is its name) and returns the exit
 * status. */
#ifndef EMU_CMD_CMD_H
#define EMU_CMD_CMD_H

int cmd_run(int argc, char **argv);        /* run a program on a machine */
int cmd_cc(int argc, char **argv);         /* the cross compiler */
int cmd_disasm(int argc, char **argv);     /* disassemble a program or single words */
int cmd_machines(int argc, char **argv);   /* list the shipped machines */
int cmd_experiment(int argc, char **argv); /* run programs on variants of a machine, and tabulate */
int cmd_show(int argc, char **argv);       /* print a machine's resolved description */
int cmd_version(int argc, char **argv);    /* version and build facts */

#endif
