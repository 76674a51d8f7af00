/* A program of croft cc on a machine of Undercroft: machine MACHINE PROGRAM OUTPUT [ARGUMENTS...]. Prints each 100 us of simulated
 * time where it is, and at the end its time and what it has done. OUTPUT receives what the program prints. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <undercroft.h>

#define SLICE UINT64_C(100000000000) /* fs */

static void check(int status, const struct undercroft_error *error)
{
    if (status == UNDERCROFT_OK)
        return;
    fprintf(stderr, "%s\n", error->text);
    exit(1);
}

static void print(struct undercroft *machine, const char *name)
{
    struct undercroft_statistic statistic;
    if (undercroft_statistic(machine, name, &statistic, NULL) == UNDERCROFT_OK)
        printf("%s %.0f %s\n", name, statistic.value, statistic.unit);
}

int main(int argc, char **argv)
{
    struct undercroft_error error;
    struct undercroft *machine;
    struct undercroft_machine_state state;
    uint64_t pc, now;
    if (argc < 4)
        return fprintf(stderr, "usage: machine MACHINE PROGRAM OUTPUT [ARGUMENTS...]\n"), 2;
    const struct undercroft_source source = {.size = sizeof source, .file = argv[1]};
    const struct undercroft_program program = {.size = sizeof program,
                                               .program = argv[2],
                                               .arguments = (const char *const *)(argv + 4),
                                               .argument_count = (size_t)argc - 4,
                                               .output = argv[3]};
    check(undercroft_machine_new(&machine, &source, &program, &error), &error);
    for (uint64_t until = SLICE;; until += SLICE) {
        check(undercroft_run(machine, until, &error), &error);
        check(undercroft_machine_state(machine, &state, &error), &error);
        check(undercroft_now(machine, &now, &error), &error);
        if (state.ended)
            break;
        check(undercroft_machine_register(machine, 0, UNDERCROFT_PC, &pc, &error), &error);
        printf("%" PRIu64 " us: pc 0x%" PRIx64 "\n", now / 1000000000, pc);
    }
    printf("status %" PRId32 "\n%s", state.status, state.messages);
    print(machine, "sim.time");
    print(machine, "hart.0.instructions");
    print(machine, "dram.reads");
    undercroft_free(machine, NULL);
    return state.status;
}
