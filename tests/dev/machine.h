/* Machine descriptions for tests: the shipped `virt` with changes. The tests run in the repository's root
 * folder. */
#ifndef TESTS_DEV_MACHINE_H
#define TESTS_DEV_MACHINE_H

#include "tests/dev/rig.h"

#include "emu/machine/machine.h"

/* Loads `machine` with sets, a list that ends in NULL. Release with machine_free(). */
static inline void machine_make(struct machine_config *config, const char *machine, const char *const *sets)
{
    struct error err = {.text = ""};
    size_t count = 0;
    while (sets[count])
        count++;
    if (!machine_load(config, machine, "emu/machine/shipped", sets, count, &err))
        fail_msg("%s", err.text);
}

#define SETS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NO_SETS   ((const char *const[]){NULL})

#endif
