/* SHA-256 digests (libmd) of texts and files. */
#ifndef EMU_EXPERIMENT_DIGEST_H
#define EMU_EXPERIMENT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/sim/error.h"

enum { DIGEST_BYTES = 32, DIGEST_TEXT = 2 * DIGEST_BYTES + 1 };

struct digest {
    unsigned char bytes[DIGEST_BYTES];
};

struct digest digest_bytes(const void *bytes, size_t size);

/* Computes the digest of a regular file. Returns false and sets err if it cannot be read. */
bool digest_file(const char *path, struct digest *digest, struct error *err);

/* Writes the digest as lower-case hexadecimal digits. */
void digest_text(const struct digest *digest, char text[DIGEST_TEXT]);

#endif
