#include "emu/experiment/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <sha256.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

struct digest digest_bytes(const void *bytes, size_t size)
{
    SHA2_CTX context;
    struct digest digest;
    SHA256Init(&context);
    SHA256Update(&context, bytes, size);
    SHA256Final(digest.bytes, &context);
    return digest;
}

bool digest_file(const char *path, struct digest *digest, struct error *err)
{
    unsigned char buffer[1 << 16];
    struct stat status;
    SHA2_CTX context;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not block */
    if (fd >= 0 && fstat(fd, &status) == 0 && !S_ISREG(status.st_mode)) {
        (void)close(fd);
        return error_set(err, "%s: not a file", path);
    }
    SHA256Init(&context);
    while (fd >= 0 && (got = read(fd, buffer, sizeof buffer)) > 0)
        SHA256Update(&context, buffer, (size_t)got);
    if (got < 0)
        (void)error_set(err, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd);
    SHA256Final(digest->bytes, &context);
    return got == 0;
}

void digest_text(const struct digest *digest, char text[DIGEST_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        text[2 * i] = digits[digest->bytes[i] >> 4];
        text[2 * i + 1] = digits[digest->bytes[i] & 15];
    }
    text[DIGEST_TEXT - 1] = '\0';
}
