#include "emu/sim/snapshot/snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "emu/sim/little_endian.h"
#include "emu/sim/mix.h"

enum { LINE = 128 };

static const char first_line[] = "croft-snapshot ";

/* Adds bytes to the digest. A line or block begins a new word of it. */
static void digest(struct snapshot *s, const void *bytes, uint64_t size)
{
    const uint8_t *at = bytes;
    for (; size >= 8; at += 8, size -= 8)
        s->digest = mix(s->digest ^ little_endian_get(at, 8)) + MIX_FACTOR;
    s->digest = mix(s->digest ^ little_endian_get(at, (unsigned)size)) + size;
}

void snapshot_fail(struct snapshot *s, const char *format, ...)
{
    char text[sizeof s->err->text];
    va_list arguments;
    if (s->failed)
        return;
    s->failed = true;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (s->section[0])
        (void)error_set(s->err, "%s: %s: %s", s->path, s->section, text);
    else
        (void)error_set(s->err, "%s: %s", s->path, text);
}

/* Notes that the file ends too early, or cannot be read or written. */
static void fail_at_host(struct snapshot *s)
{
    if (s->saves || ferror(s->file))
        snapshot_fail(s, "the file cannot be %s: %s", s->saves ? "written" : "read", strerror(errno));
    else
        snapshot_fail(s, "the snapshot is cut off: the file ends here");
}

static void put(struct snapshot *s, const void *bytes, uint64_t size)
{
    if (s->failed)
        return;
    if (fwrite(bytes, 1, size, s->file) != size)
        fail_at_host(s);
    digest(s, bytes, size);
}

static void get(struct snapshot *s, void *bytes, uint64_t size)
{
    if (s->failed)
        return;
    if (fread(bytes, 1, size, s->file) != size)
        fail_at_host(s);
    else
        digest(s, bytes, size);
}

static void __attribute__((format(printf, 2, 3))) put_line(struct snapshot *s, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put(s, line, (uint64_t)length);
}

/* Reads a line without its end; on failure it is empty. */
static void get_line(struct snapshot *s, char line[LINE])
{
    size_t length = 0;
    int next = 0;
    line[0] = '\0';
    if (s->failed)
        return;
    while (length < LINE - 1 && (next = getc(s->file)) != EOF && next != '\n')
        line[length++] = (char)next;
    line[length] = '\0';
    if (next == EOF)
        fail_at_host(s);
    else if (next != '\n' || strlen(line) != length)
        snapshot_fail(s, "the snapshot is damaged: a line is too long");
    line[length] = '\n';
    digest(s, line, length + 1);
    line[length] = '\0';
}

/* Reads the line of a field, whose value is returned; 0 on failure. */
static uint64_t get_value(struct snapshot *s, const char *name)
{
    char line[LINE], end;
    uint64_t value;
    size_t length = strlen(name);
    get_line(s, line);
    if (s->failed)
        return 0;
    if (strncmp(line, name, length) != 0 || line[length] != ' ') {
        line[strcspn(line, " ")] = '\0';
        snapshot_fail(
            s,
            "the snapshot is of another machine or version of croft: it has '%.32s' where this one has '%s'",
            line, name);
        return 0;
    }
    const char *digits = line + length + 1;
    if (strspn(digits, "0123456789abcdef") == strlen(digits) && strlen(digits) <= 16 &&
        sscanf(digits, "%" SCNx64 "%c", &value, &end) == 1)
        return value;
    snapshot_fail(s, "the snapshot is damaged: '%.32s' is no value of %s", digits, name);
    return 0;
}

void snapshot_begin(struct snapshot *s, FILE *file, const char *path, bool saves, struct error *err)
{
    const size_t length = sizeof first_line - 1;
    char line[LINE];
    *s = (struct snapshot){.file = file, .path = path, .saves = saves, .harts = UINT_MAX, .err = err};
    if (saves) {
        put_line(s, "%s%d\n", first_line, SNAPSHOT_FORMAT);
        return;
    }
    get_line(s, line);
    if (strncmp(line, first_line, length) != 0) {
        s->failed = false; /* a file of another kind may end within its first line, too */
        snapshot_fail(s, "not a snapshot, such as --save writes");
        return;
    }
    char own[16];
    (void)snprintf(own, sizeof own, "%d", SNAPSHOT_FORMAT);
    if (strcmp(line + length, own) != 0)
        snapshot_fail(s, "a snapshot of format %.16s; this croft reads format %s, so take it again",
                      line + length, own);
}

bool snapshot_end(struct snapshot *s)
{
    const uint64_t wanted = s->digest;
    s->section[0] = '\0';
    if (s->saves) {
        put_line(s, "end %" PRIx64 "\n", wanted);
        return !s->failed;
    }
    uint64_t value = get_value(s, "end");
    if (!s->failed && value != wanted)
        snapshot_fail(s, "the snapshot is damaged: its bytes do not match the digest at its end");
    else if (!s->failed && getc(s->file) != EOF)
        snapshot_fail(s, "the snapshot is damaged: bytes follow its end");
    return !s->failed;
}

void snapshot_section(struct snapshot *s, const char *name)
{
    char line[LINE];
    (void)snprintf(s->section, sizeof s->section, "%s", name);
    if (s->saves) {
        put_line(s, "[%.60s]\n", name);
        return;
    }
    get_line(s, line);
    size_t length = strlen(line);
    if (!s->failed &&
        (length != strlen(name) + 2 || line[0] != '[' || strncmp(line + 1, name, length - 2) != 0))
        snapshot_fail(
            s,
            "this machine has it, and the snapshot has '%.60s' in its place; restore into a machine with the "
            "same devices",
            line);
}

uint64_t snapshot_number(struct snapshot *s, const char *name, uint64_t value, uint64_t most)
{
    if (s->saves) {
        put_line(s, "%s %" PRIx64 "\n", name, value);
        return value;
    }
    uint64_t read = get_value(s, name);
    if (!s->failed && read > most)
        snapshot_fail(s,
                      "the snapshot is damaged: %s is 0x%" PRIx64 ", and at most 0x%" PRIx64 " is possible",
                      name, read, most);
    return s->failed ? value : read;
}

bool snapshot_flag(struct snapshot *s, const char *name, bool value)
{
    return snapshot_number(s, name, value, 1);
}

void snapshot_same(struct snapshot *s, const char *name, uint64_t value)
{
    uint64_t read = snapshot_number(s, name, value, UINT64_MAX);
    if (read != value)
        snapshot_fail(s, "%s is 0x%" PRIx64 " in the snapshot and 0x%" PRIx64 " in this machine", name, read,
                      value);
}

void snapshot_block(struct snapshot *s, void *bytes, uint64_t size)
{
    if (s->saves)
        put(s, bytes, size);
    else
        get(s, bytes, size);
}

void snapshot_bytes(struct snapshot *s, const char *name, void *bytes, uint64_t size)
{
    snapshot_same(s, name, size);
    snapshot_block(s, bytes, size);
}
