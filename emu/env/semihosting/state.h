/* Semihosting's internals: its state, and access to the program's memory. */
#ifndef EMU_ENV_SEMIHOSTING_STATE_H
#define EMU_ENV_SEMIHOSTING_STATE_H

#include "emu/env/semihosting.h"
#include "emu/io/files.h"
#include "emu/io/sandbox.h"

enum { SEMIHOSTING_OPERATIONS = 256, SEMIHOSTING_WARNINGS = 20 };

struct semihosting {
    struct semihosting_options options;
    struct hart *hart; /* the hart whose call is being served */
    struct files files;
    struct sandbox sandbox;
    int failed;                         /* errno of the last call that failed */
    bool noted[SEMIHOSTING_OPERATIONS]; /* unknown or refused operations warned about */
    unsigned warnings;                  /* number of warnings about paths */
};

/* Sets the errno value for SYS_ERRNO and returns -1. */
uint64_t semihosting_fail(struct semihosting *sh, int number);

/* Reads count fields at an address. Returns false and sets errno for SYS_ERRNO if they are not in memory. */
bool semihosting_fields(struct semihosting *sh, uint64_t address, uint64_t *fields, unsigned count);

/* Operations on files (emu/env/semihosting/file.c): each takes a1 as `address` and returns the value for a0. */
uint64_t semihosting_open(struct semihosting *sh, uint64_t address);
uint64_t semihosting_close(struct semihosting *sh, uint64_t address);
uint64_t semihosting_write(struct semihosting *sh, uint64_t address);
uint64_t semihosting_read(struct semihosting *sh, uint64_t address);
uint64_t semihosting_istty(struct semihosting *sh, uint64_t address);
uint64_t semihosting_seek(struct semihosting *sh, uint64_t address);
uint64_t semihosting_flen(struct semihosting *sh, uint64_t address);
uint64_t semihosting_tmpnam(struct semihosting *sh, uint64_t address);
uint64_t semihosting_remove(struct semihosting *sh, uint64_t address);
uint64_t semihosting_rename(struct semihosting *sh, uint64_t address);

#endif
