/* A program of the `user` environment on a functional hart, for test tools that inspect each instruction. */
#ifndef TESTS_ENV_USER_FIXTURE_H
#define TESTS_ENV_USER_FIXTURE_H

#include <stdio.h>

#include "emu/env/guest/guest.h"

#define USER_FIXTURE_BASE UINT64_C(0x80000000)
#define USER_FIXTURE_SIZE (UINT64_C(256) << 20)

enum { USER_FIXTURE_STACK = 1 << 20 };

struct user_fixture {
    struct decoder *decoder;
    struct phys memory;
    struct hart hart;
    struct user_options options;
    struct user *user;
};

/* Loads the program argv[1] with its arguments. Returns 0, or the exit status after a message in the name of
 * `tool`. The fixture must not move. */
static inline int user_fixture_init(struct user_fixture *f, const char *tool, int argc, char **argv)
{
    struct error err;
    if (argc < 2) {
        fprintf(stderr, "usage: %s PROGRAM [ARGS...]\n", tool);
        return 2;
    }
    f->decoder = decoder_new();
    f->options = (struct user_options){.program = argv[1],
                                       .arguments = (const char *const *)&argv[1],
                                       .argument_count = (size_t)argc - 1,
                                       .dir = ".",
                                       .stack_size = USER_FIXTURE_STACK,
                                       .max_insns = UINT64_MAX};
    if (phys_init(&f->memory, USER_FIXTURE_BASE, USER_FIXTURE_SIZE, &err) &&
        hart_init(&f->hart, &f->memory, f->decoder, &err) &&
        (f->user = user_new(&f->hart, &f->memory, &f->options, &err)) != NULL)
        return 0;
    fprintf(stderr, "%s: %s\n", tool, err.text);
    return 1;
}

static inline void user_fixture_free(struct user_fixture *f)
{
    user_free(f->user);
    hart_free(&f->hart);
    phys_free(&f->memory);
    decoder_free(f->decoder);
}

#endif
