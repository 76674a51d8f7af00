/* Reads the headers of ELF files for riscv64 Linux. */
#ifndef EMU_ENV_LINUX_IMAGE_H
#define EMU_ENV_LINUX_IMAGE_H

#include <elf.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/error.h"

enum { LINUX_HEADERS = 128 };

/* An open ELF file. Its loadable segments ascend, do not share pages, and end below LINUX_ADDRESSES. */
struct linux_image {
    int fd;
    uint64_t size; /* of the file */
    Elf64_Ehdr header;
    Elf64_Phdr segments[LINUX_HEADERS]; /* all program headers */
    size_t count;
    char interpreter[PATH_MAX]; /* path of the dynamic linker; "": none */
    bool names_stack;           /* has PT_GNU_STACK */
    uint64_t first, end;        /* of the loadable segments, whole pages */
};

/* Reads the headers and checks all fields that loading uses. fd is the image's from now on. Returns false and sets err,
 * without the file's name. */
bool linux_image_open(struct linux_image *image, int fd, struct error *err);
void linux_image_close(struct linux_image *image);

#endif
