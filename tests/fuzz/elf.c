/* Fuzzes the ELF loader: any file is loaded within memory, or refused with a message that names it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/env/loader/elf.h"

enum { MEMORY = 1 << 20 };

static void check(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "elf: %s\n", what);
    abort();
}

static void load(const char *path, const struct phys *memory)
{
    struct elf_program program;
    struct error err = {.text = ""};
    if (!elf_load(&program, path, ELF_VIRTUAL, &(struct bytes){memory, NULL}, &err)) {
        check(strncmp(err.text, path, strlen(path)) == 0, err.text);
        check(!strchr(err.text, '\n'), "the message has several lines");
        return;
    }
    check(program.entry % 2 == 0 && phys_at(memory, program.entry, 1), "the entry is not in memory");
    check(phys_at(memory, program.end, 0) && program.write_first <= program.end,
          "the program ends elsewhere");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct phys memory;
    struct error err;
    int file = memfd_create("program", MFD_CLOEXEC);
    check(file >= 0 && write(file, data, size) == (ssize_t)size, "no file");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    check(phys_init(&memory, 0x80000000, MEMORY, &err), "no memory");
    load(path, &memory);
    phys_free(&memory);
    (void)close(file);
    return 0;
}
