/* The state of a stash, and what its files do for each other. hardware.c (blocks, kernel ends), access.c, maps.c (AddMap, ChgMap)
 * and remote.c (the level below) are the top; below them clean.c writes chunks back; storage.c and vp_map.c call nobody. */
#ifndef EMU_STASH_HARDWARE_STATE_H
#define EMU_STASH_HARDWARE_STATE_H

#include "emu/stash/hardware.h"

enum {
    CHUNK_WORDS = STASH_CHUNK / STASH_WORD,
    NO_WORD = UINT32_MAX,
};

/* An entry of the stash-map. */
struct stash_entry {
    struct stash_mapping mapping;
    bool valid, coherent;
    bool reuse;       /* reuseBit: `reuse_of` matches perfectly */
    uint8_t reuse_of; /* entry */
    uint8_t block;    /* STASH_NONE: not active */
    uint8_t slot;     /* index of the block's map */
    uint32_t dirty;   /* #DirtyData: chunks with this index */
    uint32_t writing; /* words whose write-back is not acknowledged */
    uint32_t cursor;  /* of a ChgMap to coherent: next word to register; NO_WORD: none */
    uint64_t near;    /* set of entries whose range of addresses overlaps */
    uint64_t age;     /* number of the AddMap or ChgMap that has set it; 0: never */
};

struct stash_block {
    bool used;
    uint8_t count; /* maps */
    uint32_t first, bytes;
    uint8_t table[STASH_MAPS]; /* map index table: entries */
    struct stash_block_counters counters;
};

/* An entry of the VP-map, TLB and RTLB together (section 4.1.4, footnote 3). */
struct stash_page {
    bool used, known; /* known: the physical page is there */
    uint8_t entry;    /* the latest one that needs the page */
    uint64_t virtual, physical;
};

/* Somebody waits for words of a line. */
struct stash_wait {
    struct stash_wait *next;
    uint64_t line, mask;
    unsigned map;
    struct stash_waiter *waiter; /* NULL: a prefetch */
    bool stale;                  /* of a prefetch before the last self-invalidation: it brings old words */
};

struct stash {
    struct stash_config config;
    struct stash_user user;
    const struct stash_below_ops *ops;
    void *below;
    uint32_t words, chunks, line_bytes;
    /* by word: enum stash_code; installed and not used yet; selector of the access that installed it; version */
    uint8_t *code, *fresh, *selector;
    uint32_t *version;
    /* by chunk: a store of the block that has it; entry to which registered words belong, STASH_NONE: there are none; the latest block
     * that has had it */
    uint8_t *dirty, *index, *block;
    struct stash_block blocks[STASH_BLOCKS];
    struct stash_entry entries[STASH_ENTRIES];
    unsigned tail; /* entry added last */
    bool cleaning; /* words leave for a write-back */
    uint64_t age;
    struct stash_page *pages;
    struct stash_wait *waits, *free_waits;
    struct stash_counters counters[1 + STASH_MAPS]; /* by selector */
    struct observer_list observers;                 /* struct stash_observer */
};

/* Tells observers what happens to words of an entry. */
static inline void stash_tell(struct stash *stash, enum stash_event event, unsigned entry, uint64_t words,
                              uint64_t now)
{
    if (words)
        OBSERVER_TELL(&stash->observers, struct stash_observer, event, event, entry, (uint32_t)words, now);
}

static inline bool stash_is_active(const struct stash_entry *entry)
{
    return entry->block != STASH_NONE;
}

/* Returns whether a word of an entry is registered for all: not before a ChgMap to coherent has come to it. */
static inline bool stash_is_public(const struct stash *stash, const struct stash_entry *entry, uint32_t word)
{
    return entry->coherent && stash->code[word] >= STASH_CODE_REGISTERED && word < entry->cursor;
}

/* storage.c */

/* Sets a registered word to Invalid or Valid. If it was its chunk's last one, the chunk is clean, and its entry has one dirty
 * chunk less. */
void stash_leave(struct stash *stash, uint32_t word, enum stash_code code);
/* Makes a word registered, with its chunk's index, which becomes `map` if there is none. */
void stash_claim(struct stash *stash, uint32_t word, unsigned map);
/* Installs a word that is Invalid. */
void stash_install_word(struct stash *stash, uint32_t word, unsigned selector);
/* Makes a Valid word Invalid. */
void stash_drop_word(struct stash *stash, uint32_t word);
/* Makes Valid words of a range Invalid. */
void stash_drop_valid(struct stash *stash, uint32_t first, uint32_t bytes);
/* Makes an entry valid, or invalid. */
void stash_set_valid(struct stash *stash, struct stash_entry *entry, bool valid);
/* Makes an entry invalid that is not active and has no dirty chunks. */
void stash_retire(struct stash *stash, struct stash_entry *entry);
/* Returns whether two valid coherent entries map the same tile to the same place. */
bool stash_is_kin(const struct stash *stash, unsigned a, unsigned b);
/* Returns whether a chunk's registered words, if it has any, are those of the entry. */
static inline bool stash_belongs(const struct stash *stash, uint32_t chunk, unsigned entry)
{
    const unsigned index = stash->index[chunk];
    return index == STASH_NONE || index == entry || stash_is_kin(stash, index, entry);
}

/* vp_map.c */

/* Stores the virtual pages of a mapping in ascending order, up to `limit`. Returns their number. */
unsigned stash_pages_of(const struct stash_mapping *mapping, uint64_t *pages, unsigned limit);
/* Returns whether a field of the mapping is in the page. */
bool stash_touches(const struct stash_mapping *mapping, uint64_t page);
/* Returns how many pages of a list are not in the VP-map, and how many entries are free. */
unsigned stash_pages_missing(const struct stash *stash, const uint64_t *pages, unsigned count);
unsigned stash_pages_free(const struct stash *stash);
/* Points the pages to the entry; those that are missing get free entries. */
void stash_pages_point(struct stash *stash, const uint64_t *pages, unsigned count, unsigned entry);
/* Points pages that point to the entry, and which it no longer needs, to the latest other one that does, or removes them. */
void stash_pages_leave(struct stash *stash, unsigned entry);
/* The TLB: returns the physical address of a mapped byte. */
uint64_t stash_translate(struct stash *stash, uint64_t va);
/* The same for a page that may not exist. Returns whether it does. */
bool stash_can_translate(struct stash *stash, uint64_t va);
/* The RTLB: returns the virtual address of the n-th page with the physical address's page. Returns false if there are not so
 * many. */
bool stash_reverse(const struct stash *stash, uint64_t physical, unsigned n, uint64_t *va);

/* clean.c */

static inline uint64_t stash_line_of(const struct stash *stash, uint64_t physical)
{
    return physical & ~(uint64_t)(stash->line_bytes - 1);
}

static inline uint64_t stash_bit_of(const struct stash *stash, uint64_t physical)
{
    return UINT64_C(1) << physical % stash->line_bytes / STASH_WORD;
}

/* Returns the physical address of a word that the entry maps. */
uint64_t stash_address(struct stash *stash, const struct stash_entry *entry, uint32_t word);
/* Writes back the registered words of a chunk, a line at a time, or drops those of a non-coherent entry. They become `code`.
 * Returns false if some have to wait. */
bool stash_clean(struct stash *stash, uint32_t chunk, enum stash_code code, uint64_t now);
/* The same for all chunks of an entry; then waits for the acknowledgements. */
bool stash_clean_entry(struct stash *stash, unsigned entry, uint64_t now);
/* Returns the word with this virtual address that another entry than `e` holds as registered for all, or NO_WORD. */
uint32_t stash_elsewhere(const struct stash *stash, unsigned e, uint64_t va);

#endif
