/* How many blocks of threads share a page, from a trace of memory requests (croft run --trace memory): sharing TRACE FIRST LAST. Prints
 * PS_avg, PS_max, the blocks of the largest launch, pages of 4 KiB and requests. As in the NUPIM paper (IV-B), PS_avg of a launch is the mean, over the pages that it
 * accesses, of the number of blocks that access the page; those of launches are averaged, weighted by the accesses of
 * their threads. PS_max is the largest number of a page in any launch. Only addresses
 * from FIRST to LAST count, without thread stacks: the heap, because a GPU has arguments and constants in constant memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/simt/access_trace.h"

enum { PAGE_BITS = 12 };

/* A set of keys that are not 0, by open addressing, with a count for each. */
struct set {
    uint64_t *keys;
    uint32_t *counts;
    size_t slots, used; /* slots: a power of 2 */
};

static size_t slot_of(const struct set *set, uint64_t key)
{
    size_t slot = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (set->slots - 1);
    while (set->keys[slot] != 0 && set->keys[slot] != key)
        slot = (slot + 1) & (set->slots - 1);
    return slot;
}

static void set_clear(struct set *set, size_t slots)
{
    free(set->keys);
    free(set->counts);
    *set = (struct set){alloc(slots, sizeof *set->keys), alloc(slots, sizeof *set->counts), slots, 0};
}

/* Counts the key and returns whether it is new. */
static bool set_count(struct set *set, uint64_t key)
{
    if (2 * set->used >= set->slots) {
        struct set larger = {0};
        set_clear(&larger, 2 * set->slots);
        for (size_t i = 0; i < set->slots; i++)
            if (set->keys[i] != 0) {
                size_t slot = slot_of(&larger, set->keys[i]);
                larger.keys[slot] = set->keys[i];
                larger.counts[slot] = set->counts[i];
            }
        larger.used = set->used;
        free(set->keys);
        free(set->counts);
        *set = larger;
    }
    size_t slot = slot_of(set, key);
    bool is_new = set->keys[slot] == 0;
    set->used += is_new;
    set->keys[slot] = key;
    set->counts[slot]++;
    return is_new;
}

struct sharing {
    struct set pairs; /* page and block */
    struct set pages; /* of the launch; counts are blocks */
    struct set all;   /* pages of all launches */
    double accesses;  /* of threads, in the launch */
    double sum, weight;
    uint64_t first, last;  /* addresses that count */
    uint32_t most, blocks; /* of the largest launch */
    uint64_t requests;
};

static void end_launch(struct sharing *s)
{
    double blocks = 0;
    for (size_t i = 0; i < s->pages.slots; i++) {
        blocks += s->pages.counts[i];
        s->most = s->pages.counts[i] > s->most ? s->pages.counts[i] : s->most;
    }
    if (s->pages.used > 0) {
        s->sum += s->accesses * blocks / (double)s->pages.used;
        s->weight += s->accesses;
    }
    s->accesses = 0;
    set_clear(&s->pairs, 1024);
    set_clear(&s->pages, 1024);
}

static void count(struct sharing *s, const struct access_record *record)
{
    if (record->stack || record->address < s->first || record->address > s->last)
        return;
    uint64_t page = (record->address >> PAGE_BITS) + 1;
    s->accesses += record->threads;
    s->requests++;
    s->blocks = record->block >= s->blocks ? record->block + 1 : s->blocks;
    (void)set_count(&s->all, page);
    if (set_count(&s->pairs,
                  page << 28 ^
                      record->block)) /* memory has fewer than 2^48 bytes, a grid fewer than 2^28 blocks */
        (void)set_count(&s->pages, page);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    struct sharing s = {0};
    struct access_record record;
    uint32_t launch = 0;
    char *ends[2] = {NULL, NULL};
    if (argc == 4) {
        s.first = strtoull(argv[2], &ends[0], 0);
        s.last = strtoull(argv[3], &ends[1], 0);
    }
    if (argc != 4 || *ends[0] != '\0' || *ends[1] != '\0') {
        fprintf(stderr, "usage: sharing TRACE FIRST LAST   (addresses)\n");
        return 2;
    }
    struct access_reader *reader = access_reader_open(argv[1], &err);
    set_clear(&s.all, 1024);
    end_launch(&s);
    while (reader && access_reader_next(reader, &record, &err)) {
        if (record.launch != launch)
            end_launch(&s);
        launch = record.launch;
        count(&s, &record);
    }
    end_launch(&s);
    access_reader_close(reader);
    if (err.text[0] != '\0') {
        fprintf(stderr, "sharing: %s\n", err.text);
        return 1;
    }
    printf("%.2f %u %u %zu %llu\n", s.weight > 0 ? s.sum / s.weight : 0, s.most, s.blocks, s.all.used,
           (unsigned long long)s.requests);
    return 0;
}
