/* The run of a place, and the command that executes it. */
#ifndef EMU_EXPERIMENT_RUNS_TASK_H
#define EMU_EXPERIMENT_RUNS_TASK_H

#include "emu/experiment/description.h"
#include "emu/experiment/options.h"

/* The run of a place: its command's parts. */
struct experiment_task {
    char *label;              /* as experiment_label() */
    char *croft;              /* path of another croft; NULL: this one */
    char *machine, *program;  /* name or path; path */
    char **sets, **arguments; /* of croft run --set, and of the program; NULL-terminated */
    char **files;             /* further files that the program reads: paths; NULL-terminated */
    char **options;           /* borrowed from the description; NULL-terminated */
};

void experiment_task(const struct experiment *e, const struct experiment_where *where,
                     const int point[EXPERIMENT_AXES], struct experiment_task *task);
void experiment_task_free(struct experiment_task *task);

/* Return the path of a program, and of its source (NULL: it has none); the caller frees it. */
char *experiment_program_path(const struct experiment *e, const struct experiment_where *where, int program);
char *experiment_source_path(const struct experiment *e, const struct experiment_where *where, int program);

/* Returns a copy of a text in which $prepared is the program's folder of prepared files (prepare.h); the caller frees it. */
char *experiment_prepared(const struct experiment_where *where, const char *program, const char *text);

/* Returns the words of the task's command, NULL-terminated and to be freed with one free(); they borrow the task's texts. If
 * `statistics` is not NULL, it gets the index of the word for the file of statistics. */
char **experiment_words(const struct experiment_where *where, const struct experiment_task *task,
                        int *statistics);

/* Returns words as a text for a shell, quoted if necessary; the caller frees it. */
char *experiment_command(char *const *words);

#endif
