/* Mappings of files. Shared ones of the same bytes have the same memory; it is written to the file, and read from it, when the
 * program uses the file by calls, so that both always agree. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/linux/space/maps.h"
#include "emu/sim/alloc.h"

struct space_file *address_space_file_new(int host, const char *name)
{
    struct space_file *file = alloc(1, sizeof *file);
    struct stat st = {0};
    *file = (struct space_file){.references = 1, .host = host, .name = alloc_text(name)};
    if (host >= 0 && fstat(host, &st) == 0)
        file->device = st.st_dev, file->inode = st.st_ino;
    return file;
}

void address_space_file_release(struct space_file *file)
{
    if (!file || --file->references > 0)
        return;
    if (file->host >= 0)
        (void)close(file->host);
    free(file->name);
    free(file);
}

/* Writes the blocks that differ from the file's: reading a file does not change its time. */
static int64_t put_changes(int host, const uint8_t *from, uint64_t length, uint64_t offset)
{
    uint8_t block[16384];
    for (uint64_t done = 0; done < length; done += sizeof block) {
        const size_t size = length - done < sizeof block ? (size_t)(length - done) : sizeof block;
        const ssize_t is = pread(host, block, size, (off_t)(offset + done));
        if (is == (ssize_t)size && memcmp(block, from + done, size) == 0)
            continue;
        if (pwrite(host, from + done, size, (off_t)(offset + done)) < 0)
            return -errno;
    }
    return 0;
}

/* Writes bytes to their place in a file. One that appends does not meanwhile: the host ignores the place there. */
static int64_t put_bytes(int host, const uint8_t *from, uint64_t length, uint64_t offset)
{
    const int flags = fcntl(host, F_GETFL), plain = flags & ~O_APPEND;
    if (flags < 0 || (flags != plain && fcntl(host, F_SETFL, plain) != 0))
        return -errno;
    const int64_t failed = put_changes(host, from, length, offset);
    if (flags != plain)
        (void)fcntl(host, F_SETFL, flags);
    return failed;
}

int64_t space_write_back(const struct space *space, const struct space_map *map, uint64_t first, uint64_t end)
{
    if (!map->shared || !map->stored || !map->file || map->file->host < 0 || map->physical == SPACE_UNBACKED)
        return 0;
    struct stat st; /* lseek() would move the program's own position */
    uint64_t offset = map->offset + (first - map->first), length = end - first;
    if (fstat(map->file->host, &st) != 0 || (uint64_t)st.st_size <= offset)
        return 0;
    length = length < (uint64_t)st.st_size - offset ? length : (uint64_t)st.st_size - offset;
    const uint8_t *from = phys_at(space->frames.memory, map->physical + (first - map->first), length);
    return put_bytes(map->file->host, from, length, offset);
}

static bool is_of(const struct space_map *map, uint64_t device, uint64_t inode)
{
    return map->shared && map->file && map->file->device == device && map->file->inode == inode;
}

/* Returns a backed shared mapping of the file's byte at `offset`, or NULL. */
static const struct space_map *find_shared(const struct space *space, const struct space_file *file,
                                           uint64_t offset)
{
    for (size_t i = 0; i < space->count; i++) {
        const struct space_map *map = &space->maps[i];
        if (is_of(map, file->device, file->inode) && map->physical != SPACE_UNBACKED &&
            offset >= map->offset && offset - map->offset < map->end - map->first)
            return map;
    }
    return NULL;
}

void space_share(struct space *space, uint64_t first, uint64_t end)
{
    while (first < end) {
        struct space_map *map = &space->maps[space_index_after(space, first)];
        if (!map->shared || map->physical != SPACE_UNBACKED)
            return;
        const uint64_t offset = map->offset + (first - map->first);
        const struct space_map *other = find_shared(space, map->file, offset);
        uint64_t next = first + FRAME, physical = SPACE_UNBACKED;
        if (other) {
            const uint64_t left = other->end - other->first - (offset - other->offset);
            physical = other->physical + (offset - other->offset);
            next = left < map->end - first ? first + left : map->end;
        } else {
            while (next < map->end && !find_shared(space, map->file, offset + (next - first)))
                next += FRAME;
        }
        space_split(space, first);
        space_split(space, next);
        space->maps[space_index_after(space, first)].physical = physical;
        first = next;
    }
    space->shares = true;
}

/* Returns the lowest physical address from `from` on that a mapping has, and sets *end to that mapping's end; `end` if there is none
 * before. */
static uint64_t next_used(const struct space *space, uint64_t from, uint64_t *end)
{
    uint64_t lowest = *end;
    const uint64_t most = *end;
    for (size_t i = 0; i < space->count; i++) {
        const struct space_map *map = &space->maps[i];
        const uint64_t last = map->physical + (map->end - map->first);
        const uint64_t first = map->physical > from ? map->physical : from;
        if (map->physical == SPACE_UNBACKED || last <= from || first >= lowest)
            continue;
        lowest = first;
        *end = last < most ? last : most;
    }
    return lowest;
}

void space_give_back(struct space *space, const struct space_map *map)
{
    if (map->physical == SPACE_UNBACKED)
        return;
    const uint64_t end = map->physical + (map->end - map->first);
    for (uint64_t at = map->physical; at < end;) {
        uint64_t used_end = end, used = map->shared ? next_used(space, at, &used_end) : end;
        if (used > at)
            frames_give(&space->frames, (struct frame_range){at, used});
        at = used_end;
    }
}

/* Calls `act` for the part of each shared mapping of the file that shows its bytes [offset, offset + length). */
static void for_shared(struct space *space, const struct space_part *part,
                       void (*act)(struct space *space, const struct space_map *map, uint64_t first,
                                   uint64_t end))
{
    const uint64_t last = part->length > UINT64_MAX - part->offset ? UINT64_MAX : part->offset + part->length;
    for (size_t i = 0; i < space->count; i++) {
        const struct space_map *map = &space->maps[i];
        const uint64_t size = map->end - map->first;
        if (!is_of(map, part->device, part->inode) || map->physical == SPACE_UNBACKED ||
            last <= map->offset || part->offset >= map->offset + size)
            continue;
        act(space, map, part->offset > map->offset ? map->first + (part->offset - map->offset) : map->first,
            last - map->offset < size ? map->first + (last - map->offset) : map->end);
    }
}

static void store(struct space *space, const struct space_map *map, uint64_t first, uint64_t end)
{
    (void)space_write_back(space, map, first, end);
}

static void reload(struct space *space, const struct space_map *map, uint64_t first, uint64_t end)
{
    uint8_t *at = phys_at(space->frames.memory, map->physical + (first - map->first), end - first);
    uint64_t done = 0;
    while (done < end - first) {
        ssize_t got = pread(map->file->host, at + done, end - first - done,
                            (off_t)(map->offset + (first - map->first) + done));
        if (got <= 0)
            break;
        done += (uint64_t)got;
    }
    for (; done < end - first; done++)
        at[done] = 0;
    phys_note_store(space->frames.memory, map->physical + (first - map->first), end - first);
}

void address_space_store(struct space *space, const struct space_part *part)
{
    if (space->shares)
        for_shared(space, part, store);
}

void address_space_reload(struct space *space, const struct space_part *part)
{
    if (space->shares)
        for_shared(space, part, reload);
}
