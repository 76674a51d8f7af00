#include "emu/env/linux/space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/env/linux/space/maps.h"
#include "emu/env/linux/space/tables.h"
#include "emu/sim/alloc.h"

static uint64_t page_up(uint64_t address)
{
    return (address + FRAME - 1) & ~(uint64_t)(FRAME - 1);
}

bool address_space_init(struct space *space, const struct phys *memory, uint64_t first, struct mirror *mirror,
                        struct error *err)
{
    *space = (struct space){.top = SPACE_END, .mirror = mirror};
    frames_init(&space->frames, memory, first);
    struct frame_range range;
    const uint64_t table = page_up(sizeof *space->ranges);
    space->root = frames_take_table(&space->frames);
    if (!space->root || !frames_take(&space->frames, table, &range) || range.end - range.first < table)
        return error_set(err, "memory.size: %" PRIu64 " KiB leave no room for a program; enlarge it",
                         memory->size / 1024);
    space->ranges_at = range.first;
    space->ranges = (struct croft_range_table *)(void *)phys_at(memory, range.first, table);
    return true;
}

const struct space_map *address_space_find(const struct space *space, uint64_t address)
{
    size_t i = space_index_after(space, address);
    return i < space->count && space->maps[i].first <= address ? &space->maps[i] : NULL;
}

/* Returns whether two neighbours are one mapping. */
static bool continues(const struct space_map *a, const struct space_map *b)
{
    const uint64_t size = a->end - a->first;
    bool backed = a->physical != SPACE_UNBACKED;
    return a->end == b->first && a->protection == b->protection && a->shared == b->shared &&
           a->stored == b->stored && a->beyond == b->beyond && a->file == b->file &&
           backed == (b->physical != SPACE_UNBACKED) && (!backed || a->physical + size == b->physical) &&
           (!a->file || a->offset + size == b->offset);
}

/* Merges mapping `at` with the one before it if they continue each other. Returns whether it did. */
static bool merge(struct space *space, size_t at)
{
    if (at == 0 || at >= space->count || !continues(&space->maps[at - 1], &space->maps[at]))
        return false;
    space->maps[at - 1].end = space->maps[at].end;
    address_space_file_release(space->maps[at].file);
    space_erase(space, at);
    return true;
}

static void show_ranges(struct space *space)
{
    struct croft_range_table *table = space->ranges;
    uint64_t count = 0;
    for (size_t i = 0; i < space->count && count < CROFT_RANGES_MAX; i++) {
        const struct space_map *map = &space->maps[i];
        uint32_t present = space_access(map) ? CROFT_RANGE_PRESENT : 0;
        table->entries[count++] =
            (struct croft_range){map->first, map->end - map->first,
                                 map->physical == SPACE_UNBACKED ? CROFT_RANGE_PAGED : map->physical,
                                 space_access(map) | present, CROFT_USE_MAP};
    }
    table->count = count;
    phys_note_store(space->frames.memory, space->ranges_at, sizeof *table);
    space->changed = true;
}

/* Merges the neighbours of [first, end), and shows the result to accelerators. */
static void settle(struct space *space, uint64_t first, uint64_t end)
{
    size_t i = space_index_after(space, first == 0 ? 0 : first - 1);
    while (i < space->count && space->maps[i].first <= end)
        if (!merge(space, i))
            i++;
    show_ranges(space);
}

void address_space_free(struct space *space)
{
    for (size_t i = 0; i < space->count; i++) {
        (void)space_write_back(space, &space->maps[i], space->maps[i].first, space->maps[i].end);
        address_space_file_release(space->maps[i].file);
    }
    free(space->maps);
    frames_free(&space->frames);
    *space = (struct space){0};
}

/* Removes whole mappings in [first, end), whose borders are borders of mappings. */
static void remove_maps(struct space *space, uint64_t first, uint64_t end)
{
    size_t i = space_index_after(space, first);
    while (i < space->count && space->maps[i].first < end) {
        struct space_map map = space->maps[i];
        tables_set(space, map.first, map.end, SPACE_UNBACKED, 0);
        (void)space_write_back(space, &map, map.first, map.end);
        space_erase(space, i);
        space_give_back(space, &map);
        address_space_file_release(map.file);
    }
}

static bool in_reach(uint64_t address, uint64_t length)
{
    return address <= SPACE_END && length <= SPACE_END - address;
}

/* Gives memory to all unbacked mappings in [first, end). Returns false if there is not enough; nothing is changed
 * then. */
static bool back(struct space *space, uint64_t first, uint64_t end)
{
    uint64_t wanted = 0;
    for (size_t i = space_index_after(space, first); i < space->count && space->maps[i].first < end; i++)
        if (space->maps[i].physical == SPACE_UNBACKED)
            wanted += space->maps[i].end - space->maps[i].first;
    if (wanted > 0 && wanted + TABLES_MOST(wanted) > frames_left(&space->frames))
        return false;
    for (size_t i = space_index_after(space, first); i < space->count && space->maps[i].first < end; i++) {
        struct frame_range range;
        if (space->maps[i].physical != SPACE_UNBACKED)
            continue;
        if (!frames_take(&space->frames, space->maps[i].end - space->maps[i].first, &range))
            return false;
        space_split(space, space->maps[i].first + (range.end - range.first));
        space->maps[i].physical = range.first;
    }
    return true;
}

/* Sets the page tables of [first, end) from its mappings. */
static bool show(struct space *space, uint64_t first, uint64_t end)
{
    bool shown = true;
    for (size_t i = space_index_after(space, first); i < space->count && space->maps[i].first < end; i++) {
        const struct space_map *map = &space->maps[i];
        shown &= tables_set(space, map->first, map->end, map->physical, space_access(map));
    }
    return shown;
}

/* Returns the highest free place for `length` bytes below `ceiling`, or 0. */
static uint64_t place_below(const struct space *space, uint64_t ceiling, uint64_t length)
{
    const struct frame_range *out = &space->kept_out;
    uint64_t floor = page_up(space->break_end) > SPACE_FIRST ? page_up(space->break_end) : SPACE_FIRST;
    for (size_t i = space->count + 1; i-- > 0;) {
        uint64_t below = i > 0 ? space->maps[i - 1].end : SPACE_FIRST;
        below = below > floor ? below : floor;
        if (ceiling >= length && ceiling - length >= below) {
            uint64_t at = ceiling - length;
            if (out->end <= at || out->first >= ceiling)
                return at;
            if (out->first >= length && out->first - length >= below)
                return out->first - length;
        }
        if (i > 0 && space->maps[i - 1].first < ceiling)
            ceiling = space->maps[i - 1].first;
    }
    return 0;
}

static bool is_free(const struct space *space, uint64_t first, uint64_t end)
{
    size_t i = space_index_after(space, first);
    bool kept_out = first < space->kept_out.end && space->kept_out.first < end;
    return !kept_out && (i == space->count || space->maps[i].first >= end);
}

/* Finds the place of a mapping. Returns its address or -errno. */
static int64_t place(struct space *space, const struct space_request *request, uint64_t length)
{
    const uint64_t first = request->first;
    if (request->fixed) {
        if (first % FRAME != 0)
            return -EINVAL;
        if (!in_reach(first, length) ||
            (first < space->kept_out.end && space->kept_out.first < first + length))
            return -ENOMEM;
        if (first < SPACE_FIRST)
            return -EPERM;
        if (request->keep && !is_free(space, first, first + length))
            return -EEXIST;
        return (int64_t)first;
    }
    const uint64_t wish = page_up(first);
    if (wish >= SPACE_FIRST && in_reach(wish, length) && is_free(space, wish, wish + length))
        return (int64_t)wish;
    const uint64_t at = place_below(space, space->top, length);
    return at ? (int64_t)at : -ENOMEM;
}

int64_t address_space_map(struct space *space, const struct space_request *request)
{
    const uint64_t length = page_up(request->length);
    if (request->length == 0)
        return -EINVAL;
    if (length < request->length || length > SPACE_END)
        return -ENOMEM;
    int64_t at = place(space, request, length);
    if (at < 0)
        return at;
    const uint64_t first = (uint64_t)at, end = first + length;
    if (request->protection && length + TABLES_MOST(length) > frames_left(&space->frames))
        return -ENOMEM;
    space_split(space, first);
    space_split(space, end);
    remove_maps(space, first, end);
    struct space_map map = {.first = first,
                            .end = end,
                            .physical = SPACE_UNBACKED,
                            .offset = request->offset,
                            .protection = request->protection,
                            .shared = request->shared,
                            .stored = request->shared && request->protection & SPACE_WRITE,
                            .file = request->file};
    if (map.file)
        map.file->references++;
    space_insert(space, space_index_after(space, first), &map);
    space_share(space, first, end);
    if ((map.protection || map.file) && (!back(space, first, end) || !show(space, first, end))) {
        remove_maps(space, first, end);
        at = -ENOMEM;
    }
    settle(space, first, end);
    return at;
}

int64_t address_space_unmap(struct space *space, uint64_t address, uint64_t length)
{
    if (address % FRAME != 0 || length == 0 || !in_reach(address, length))
        return -EINVAL;
    const uint64_t end = page_up(address + length);
    space_split(space, address);
    space_split(space, end);
    remove_maps(space, address, end);
    settle(space, address, end);
    return 0;
}

/* Returns whether all of [first, end) is mapped. */
static bool all_mapped(const struct space *space, uint64_t first, uint64_t end)
{
    for (size_t i = space_index_after(space, first); first < end; i++) {
        if (i == space->count || space->maps[i].first > first)
            return false;
        first = space->maps[i].end;
    }
    return true;
}

/* Returns whether no mapping in [first, end) is a shared one of a file that was opened to read. */
static bool may_write(const struct space *space, uint64_t first, uint64_t end)
{
    for (size_t i = space_index_after(space, first); i < space->count && space->maps[i].first < end; i++)
        if (space->maps[i].shared && space->maps[i].file->read_only)
            return false;
    return true;
}

int64_t address_space_protect(struct space *space, uint64_t address, uint64_t length, uint8_t protection)
{
    if (address % FRAME != 0)
        return -EINVAL;
    const uint64_t end = page_up(address + length);
    if (length == 0)
        return 0;
    if (!in_reach(address, length) || !all_mapped(space, address, end))
        return -ENOMEM;
    if ((protection & SPACE_WRITE) && !may_write(space, address, end))
        return -EACCES;
    space_split(space, address);
    space_split(space, end);
    if (protection && !back(space, address, end))
        return -ENOMEM;
    for (size_t i = space_index_after(space, address); i < space->count && space->maps[i].first < end; i++) {
        struct space_map *map = &space->maps[i];
        map->protection = protection;
        map->stored = map->stored || (map->shared && protection & SPACE_WRITE);
    }
    bool shown = show(space, address, end);
    settle(space, address, end);
    return shown ? 0 : -ENOMEM;
}

/* Makes the mapping at index i, all of which is behind the end of its file or none of it, follow that. */
static void set_beyond(struct space *space, size_t i, bool beyond)
{
    struct space_map *map = &space->maps[i];
    const uint64_t length = map->end - map->first;
    if (map->beyond == beyond)
        return;
    map->beyond = beyond;
    if (!map->shared &&
        map->physical != SPACE_UNBACKED) { /* what shared ones show is read anew (address_space_reload()) */
        frames_zero(&space->frames, (struct frame_range){map->physical, map->physical + length});
        if (!beyond)
            (void)address_space_fill(space, map->first, length, map->file->host, map->offset);
    }
    (void)show(space, map->first, map->end);
    show_ranges(space);
}

void address_space_fit(struct space *space, uint64_t device, uint64_t inode)
{
    for (size_t i = 0; i < space->count; i++) {
        const struct space_map *map = &space->maps[i];
        struct stat st;
        if (!map->file || !map->file->ends || map->file->device != device || map->file->inode != inode ||
            fstat(map->file->host, &st) != 0)
            continue;
        const uint64_t size = page_up((uint64_t)st.st_size), length = map->end - map->first;
        const uint64_t inside = size <= map->offset ? 0 : size - map->offset;
        if (inside > 0 && inside < length)
            space_split(space, map->first + inside); /* the next round is of the other part */
        set_beyond(space, i, inside == 0);
        space->shares = space->shares || inside < length;
    }
}

int64_t address_space_discard(struct space *space, uint64_t address, uint64_t length, bool zero)
{
    if (address % FRAME != 0)
        return -EINVAL;
    const uint64_t end = page_up(address + length);
    if (length == 0)
        return 0;
    if (!in_reach(address, length))
        return -EINVAL;
    bool mapped = all_mapped(space, address, end);
    for (size_t i = space_index_after(space, address); zero && i < space->count && space->maps[i].first < end;
         i++) {
        const struct space_map *map = &space->maps[i];
        uint64_t from = map->first > address ? map->first : address, to = map->end < end ? map->end : end;
        if (map->physical == SPACE_UNBACKED || map->shared)
            continue;
        const uint64_t physical = map->physical + (from - map->first);
        frames_zero(&space->frames, (struct frame_range){physical, physical + (to - from)});
        if (map->file && map->file->host >= 0)
            (void)address_space_fill(space, from, to - from, map->file->host,
                                     map->offset + (from - map->first));
    }
    return mapped ? 0 : -ENOMEM;
}

int64_t address_space_sync(struct space *space, uint64_t address, uint64_t length)
{
    const uint64_t end = page_up(address + length);
    int64_t result = 0;
    if (!in_reach(address, length) || !all_mapped(space, address, end))
        return -ENOMEM;
    for (size_t i = space_index_after(space, address); i < space->count && space->maps[i].first < end; i++) {
        const struct space_map *map = &space->maps[i];
        int64_t failed = space_write_back(space, map, map->first > address ? map->first : address,
                                          map->end < end ? map->end : end);
        result = failed ? failed : result;
    }
    return result;
}

/* Copies between mappings, both backed where `from` is. */
static void copy(struct space *space, uint64_t to, uint64_t from, uint64_t length)
{
    uint8_t page[FRAME];
    for (uint64_t done = 0; done < length; done += FRAME)
        if (address_space_read(space, from + done, page, FRAME))
            (void)address_space_write(space, to + done, page, FRAME);
}

/* Reads what a mapping has gained behind its first `old_length` bytes from its file, if it has one. */
static void fill_rest(struct space *space, uint64_t address, uint64_t old_length, uint64_t length)
{
    const struct space_map *map = address_space_find(space, address + old_length);
    if (length > old_length && map && map->file && map->file->host >= 0 && map->physical != SPACE_UNBACKED)
        (void)address_space_fill(space, address + old_length, length - old_length, map->file->host,
                                 map->offset + (address + old_length - map->first));
}

/* Moves a mapping's bytes to `request`, and removes the old one. */
static int64_t move(struct space *space, uint64_t address, uint64_t old_length, struct space_request *request)
{
    int64_t at = address_space_map(space, request);
    if (at < 0)
        return at;
    copy(space, (uint64_t)at, address, old_length < request->length ? old_length : page_up(request->length));
    fill_rest(space, (uint64_t)at, old_length, page_up(request->length));
    (void)address_space_unmap(space, address, old_length);
    return at;
}

int64_t address_space_remap(struct space *space, uint64_t address, uint64_t old_length, uint64_t length,
                            bool may_move, bool fixed, uint64_t to)
{
    old_length = page_up(old_length);
    if (address % FRAME != 0 || length == 0 || old_length == 0 || (fixed && (!may_move || to % FRAME != 0)))
        return -EINVAL;
    if (!in_reach(address, old_length) || !all_mapped(space, address, address + old_length))
        return -EFAULT;
    const uint64_t new_length = page_up(length);
    if (new_length < length || new_length > SPACE_END)
        return -ENOMEM;
    if (fixed && to < address + old_length && address < to + new_length)
        return -EINVAL;
    if (!fixed && new_length <= old_length) {
        if (new_length < old_length)
            (void)address_space_unmap(space, address + new_length, old_length - new_length);
        return (int64_t)address;
    }
    const struct space_map *map = address_space_find(space, address);
    struct space_request request = {.first = address + old_length,
                                    .length = new_length - old_length,
                                    .protection = map->protection,
                                    .fixed = true,
                                    .keep = true,
                                    .shared = map->shared,
                                    .file = map->file,
                                    .offset = map->offset + (address - map->first)};
    if (!fixed && in_reach(address, new_length) &&
        is_free(space, address + old_length, address + new_length)) {
        request.offset += old_length;
        int64_t grown = address_space_map(space, &request);
        if (grown >= 0)
            fill_rest(space, address, old_length, new_length);
        return grown < 0 ? grown : (int64_t)address;
    }
    if (!may_move)
        return -ENOMEM;
    request.first = fixed ? to : 0;
    request.length = new_length;
    request.fixed = fixed;
    request.keep = false;
    return move(space, address, old_length, &request);
}

uint64_t address_space_break(struct space *space, uint64_t address)
{
    const uint64_t old = page_up(space->break_end), new = page_up(address);
    if (address < space->break_start || address > SPACE_END)
        return space->break_end;
    if (new > old) {
        const struct space_request request = {.first = old,
                                              .length = new - old,
                                              .protection = SPACE_READ | SPACE_WRITE,
                                              .fixed = true,
                                              .keep = true};
        if (address_space_map(space, &request) < 0)
            return space->break_end;
    } else if (new < old) {
        (void)address_space_unmap(space, new, old - new);
    }
    return space->break_end = address;
}

/* Returns the host address of the program's bytes at an address, and their number up to the mapping's end or `most`;
 * NULL if there are none. */
static uint8_t *view(const struct space *space, uint64_t address, uint64_t most, uint64_t *length)
{
    const struct space_map *map = address_space_find(space, address);
    if (!map || map->physical == SPACE_UNBACKED)
        return NULL;
    *length = map->end - address < most ? map->end - address : most;
    return phys_at(space->frames.memory, map->physical + (address - map->first), *length);
}

bool address_space_write(struct space *space, uint64_t address, const void *from, uint64_t length)
{
    for (uint64_t done = 0, part = 0; done < length; done += part) {
        uint8_t *to = view(space, address + done, length - done, &part);
        if (!to)
            return false;
        memcpy(to, (const uint8_t *)from + done, part);
        const struct phys *memory = space->frames.memory;
        phys_note_store(memory, memory->base + (uint64_t)(to - memory->bytes), part);
    }
    return true;
}

bool address_space_read(const struct space *space, uint64_t address, void *to, uint64_t length)
{
    for (uint64_t done = 0, part = 0; done < length; done += part) {
        const uint8_t *from = view(space, address + done, length - done, &part);
        if (!from)
            return false;
        memcpy((uint8_t *)to + done, from, part);
    }
    return true;
}

int64_t address_space_fill(struct space *space, uint64_t address, uint64_t length, int host, uint64_t offset)
{
    for (uint64_t done = 0, part = 0; done < length; done += part) {
        uint8_t *to = view(space, address + done, length - done, &part);
        if (!to)
            return -EFAULT;
        ssize_t got = pread(host, to, part, (off_t)(offset + done));
        if (got < 0 && errno != EINTR)
            return -errno;
        if (got == 0)
            break;
        part = got < 0 ? 0 : (uint64_t)got;
        const struct phys *memory = space->frames.memory;
        phys_note_store(memory, memory->base + (uint64_t)(to - memory->bytes), part);
    }
    return 0;
}
