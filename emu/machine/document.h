/* One description file as it stands: the text of each key that it sets, with its line. */
#ifndef EMU_MACHINE_DOCUMENT_H
#define EMU_MACHINE_DOCUMENT_H

#include "emu/machine/outline.h"

struct document_texts;

struct document {
    struct outline outline;
    struct document_texts *texts; /* as libcyaml has loaded them; NULL if the file sets nothing */
};

enum { DOCUMENT_BYTES = 1 << 20 }; /* no machine description is larger */

/* Reads an open regular file of at most DOCUMENT_BYTES, which stays open. Messages begin with path. Release
 * with document_free(). */
bool document_read(struct document *document, int file, const char *path, struct error *err);

void document_free(struct document *document);

/* The text of the key, or of `extends`; NULL when the file doesn't set it. Valid until document_free(). */
const char *document_text(const struct document *document, int key);
const char *document_extends(const struct document *document);

#endif
