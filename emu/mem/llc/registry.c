/* A slice of the last level under DeNovo: the home of a registry (emu/mem/denovo.h).
 *
 * A message takes its bank like a request, and reaches the registry when the tags have been looked up. What the registry then
 * sends leaves when a hit would be answered, because the owner of a word is in the data array; what it sends when memory has
 * answered, fill_clocks later. A memory request of a client that is no unit (a page walk, a device) is an operation at the
 * registry: words that are registered come back first.
 *
 * The registry calls its home, and must not be called meanwhile; so what a call makes possible is done by the event `work`. */
#include "emu/mem/llc/registry.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

static void stir(struct llc *llc, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    if (!event_pending(&by_word->work))
        event_schedule(llc->queue, &by_word->work, now);
}

static uint32_t index_of(const struct llc *llc, const struct denovo_line *line)
{
    return (uint32_t)(line - llc->by_word->lines);
}

/* The home's side. */

static struct denovo_line *find(void *home, uint64_t line)
{
    const struct llc *llc = home;
    const uint32_t index = llc_find(llc, line);
    return index == TAGS_NONE ? NULL : &llc->by_word->lines[index];
}

/* Returns whether the write buffer has a place that no line needs that is being evicted. */
static bool has_place(const struct llc *llc)
{
    return llc->writes_used + llc->by_word->evicting < llc->config.write_buffer;
}

static void forget(struct llc *llc, uint32_t index, uint64_t now)
{
    const uint64_t line = llc_line_at(llc, index);
    llc_remove(llc, index);
    llc_tell_evict(llc, line, now);
}

/* Writes a dirty line to memory. */
static void write_line(struct llc *llc, uint32_t index, uint64_t now)
{
    const struct denovo_line *line = &llc->by_word->lines[index];
    if (llc->by_word->versions)
        memcpy(word_versions_memory(llc->by_word->versions, line->address), line->value, sizeof line->value);
    llc_write_back(llc, index, now);
}

static void begin_eviction(struct llc *llc, uint32_t index, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    by_word->evicting++;
    if (!denovo_evict(by_word->registry, &by_word->lines[index], now))
        by_word->evicting--;
}

/* Returns the set of ways that nobody may take now. *leaving gets whether one of them is being evicted. */
static uint64_t busy_ways(const struct llc *llc, uint64_t key, bool *leaving)
{
    const uint32_t first = tags_first(&llc->tags, key);
    uint64_t busy = 0;
    *leaving = false;
    for (uint32_t way = 0; way < llc->config.ways; way++) {
        const struct denovo_line *line = &llc->by_word->lines[first + way];
        const bool used = tags_state(&llc->tags, first + way);
        busy |= (uint64_t)(used && (line->fetching || line->evicting || line->held)) << way;
        *leaving |= used && line->evicting;
    }
    return busy;
}

static struct denovo_line *make(void *home, uint64_t address, uint64_t now)
{
    struct llc *llc = home;
    struct llc_registry *by_word = llc->by_word;
    const uint64_t key = llc_key(llc, address);
    bool leaving;
    const uint32_t index = tags_victim(&llc->tags, key, busy_ways(llc, key, &leaving));
    if (index == TAGS_NONE)
        return NULL;
    struct denovo_line *line = &by_word->lines[index];
    if (tags_state(&llc->tags, index)) {
        if (line->dirty && !has_place(llc))
            return NULL;
        if (!denovo_line_idle(line)) {
            if (!leaving && by_word->victim == TAGS_NONE && has_place(llc)) {
                by_word->victim = index;
                stir(llc, now);
            }
            return NULL;
        }
        llc->counters.evictions++;
        if (line->dirty)
            write_line(llc, index, now);
        forget(llc, index, now);
    }
    tags_fill(&llc->tags, index, key, LLC_CLEAN);
    *line = (struct denovo_line){.address = address, .tag = MEM_LEVEL_L2};
    return line;
}

/* Sends the reads of lines that wait, in order. */
static void fetch_rest(struct llc *llc, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    while (by_word->first_fetch != TAGS_NONE && llc->free_mshrs) {
        const uint32_t index = by_word->first_fetch;
        if (llc_writing(llc, by_word->lines[index].address))
            return;
        by_word->first_fetch = by_word->next_fetch[index];
        llc_read_line(llc, by_word->lines[index].address, now);
    }
}

static void fetch(void *home, struct denovo_line *line, uint64_t now)
{
    struct llc *llc = home;
    struct llc_registry *by_word = llc->by_word;
    const uint32_t index = index_of(llc, line);
    by_word->next_fetch[index] = TAGS_NONE;
    if (by_word->first_fetch == TAGS_NONE)
        by_word->first_fetch = index;
    else
        by_word->next_fetch[by_word->last_fetch] = index;
    by_word->last_fetch = index;
    llc->counters.stalls += !llc->free_mshrs;
    fetch_rest(llc, now);
}

static void evicted(void *home, struct denovo_line *line, uint64_t now)
{
    struct llc *llc = home;
    const uint32_t index = index_of(llc, line);
    llc->counters.evictions++;
    llc->by_word->evicting--;
    if (line->dirty)
        write_line(llc, index, now);
    forget(llc, index, now);
    stir(llc, now);
}

static void touch(void *home, struct denovo_line *line, bool store, uint64_t now)
{
    struct llc *llc = home;
    (void)store;
    llc->by_word->array = llc_transfer_waited(llc, line->address, now) - now;
    tags_touch(&llc->tags, index_of(llc, line));
}

/* Returns whether a message is a plain access of a client that is no unit: a DMA engine's, or a page walk. */
static bool is_plain(const struct llc *llc, const struct denovo_message *message)
{
    return message->with_data ||
           (message->requester == DENOVO_CLIENT && !llc->entries[message->tag].request->atomic);
}

static void operate(void *home, struct denovo_line *line, const struct denovo_message *atomic, uint64_t now)
{
    struct llc *llc = home;
    struct llc_registry *by_word = llc->by_word;
    if (atomic->with_data)
        return;
    if (by_word->versions)
        word_versions_operate(by_word->versions, atomic->requester, atomic->tag, line->address, atomic->mask,
                              line->value, now);
    if (is_plain(llc, atomic))
        return; /* it does not read what it writes */
    (void)llc_transfer(llc, line->address, now);
    by_word->array = llc_operation(llc, line->address, atomic->mask, now + by_word->array) - now;
}

static void room(void *home, uint64_t now)
{
    struct llc *llc = home;
    llc->by_word->room = true;
    stir(llc, now);
}

static const struct denovo_home_ops home_ops = {find, make, fetch, evicted, touch, operate, room};

/* What the registry sends. */
static void post(void *context, const struct denovo_message *message, uint64_t now)
{
    struct llc *llc = context;
    struct llc_registry *by_word = llc->by_word;
    const uint64_t leaves = now + by_word->array + by_word->delay;
    if (message->to != DENOVO_CLIENT) {
        llc->counters.probes += denovo_class(message) == MAIL_FORWARD;
        by_word->post.send(by_word->post.context, message, leaves);
        return;
    }
    struct llc_entry *entry = &llc->entries[message->tag];
    const uint32_t index = llc_find(llc, message->line);
    entry->request->level = by_word->lines[index].tag;
    event_schedule(llc->queue, &entry->event, leaves);
}

/* Messages that come in. */

static void set_delay(struct llc *llc, uint32_t clocks)
{
    llc->by_word->array = 0;
    llc->by_word->delay = llc_after(llc, 0, clocks);
}

static void count(struct llc *llc, const struct denovo_message *message)
{
    const bool here = llc_find(llc, message->line) != TAGS_NONE;
    struct llc_counters *counters = &llc->counters;
    if (denovo_class(message) != MAIL_REQUEST && message->kind != DENOVO_MSG_WRITE_BACK)
        return;
    *(message->kind == DENOVO_MSG_READ || (message->kind == DENOVO_MSG_ATOMIC && message->with_data)
          ? &counters->reads
          : &counters->writes) += 1;
    counters->atomics += message->kind == DENOVO_MSG_ATOMIC && !is_plain(llc, message);
    if (message->kind == DENOVO_MSG_WRITE_BACK)
        counters->late_writes += !here;
    if (message->kind != DENOVO_MSG_WRITE_BACK || here)
        *(here ? &counters->hits : &counters->misses) += 1;
}

static struct llc_letter *take_letter(struct llc *llc, const struct denovo_message *message)
{
    struct llc_registry *by_word = llc->by_word;
    struct llc_letter *letter = by_word->free;
    if (letter) {
        by_word->free = letter->next;
    } else {
        letter = alloc(1, sizeof *letter);
        letter->all = by_word->all;
        letter->llc = llc;
        by_word->all = letter;
    }
    letter->next = NULL;
    letter->message = *message;
    return letter;
}

/* Gives a letter to the registry. Returns false if the registry refuses it. */
static bool give(struct llc *llc, struct llc_letter *letter, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    if (!denovo_registry_receive(by_word->registry, &letter->message, now))
        return false;
    by_word->queued -= denovo_class(&letter->message) == MAIL_REQUEST;
    letter->next = by_word->free;
    by_word->free = letter;
    return true;
}

static void look(void *owner, uint64_t now)
{
    struct llc_letter *letter = owner;
    struct llc *llc = letter->llc;
    struct llc_registry *by_word = llc->by_word;
    const bool request = denovo_class(&letter->message) == MAIL_REQUEST;
    count(llc, &letter->message);
    set_delay(llc, llc->config.hit_clocks - llc->config.tag_clocks);
    if ((request && by_word->refused.first) || !give(llc, letter, now)) {
        llc->counters.line_waits++;
        LIST_APPEND(by_word->refused.first, by_word->refused.last, letter, next);
    }
    if (by_word->carrier_refused ||
        by_word->waiting.first) /* the line of a maintenance operation may be free now */
        stir(llc, now);
}

/* Schedules the lookup of a letter: its bank accepts it, then the tags are looked up. */
static void look_later(struct llc_letter *letter, uint64_t now)
{
    struct llc *llc = letter->llc;
    struct llc_bank *bank = llc_bank(llc, letter->message.line);
    uint64_t start = clock_edge(&llc->clock, now);
    if (start < bank->start) {
        start = bank->start;
        llc->counters.bank_waits++;
    }
    bank->start = llc_after(llc, start, llc->config.accept_clocks);
    event_init(&letter->event, llc->component, look, letter);
    event_schedule(llc->queue, &letter->event, llc_after(llc, start, llc->config.tag_clocks));
}

static bool receive(void *receiver, const struct denovo_message *message, uint64_t now)
{
    struct llc *llc = receiver;
    struct llc_registry *by_word = llc->by_word;
    const bool request = denovo_class(message) == MAIL_REQUEST;
    if (request && by_word->queued >= llc->config.queue) {
        llc->counters.refusals++;
        by_word->carrier_refused = true;
        return false;
    }
    by_word->queued += request;
    look_later(take_letter(llc, message), now);
    return true;
}

void llc_registry_request(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    const struct denovo_message message = {.kind = DENOVO_MSG_ATOMIC,
                                           .with_data = entry->request->op == MEM_READ,
                                           .from = DENOVO_CLIENT,
                                           .to = DENOVO_REGISTRY,
                                           .requester = DENOVO_CLIENT,
                                           .tag = (uint32_t)(entry - llc->entries),
                                           .line = entry->line,
                                           .mask = llc_words_of(entry)};
    struct llc_letter *letter = take_letter(llc, &message);
    llc->by_word->queued++;
    event_init(&letter->event, llc->component, look, letter);
    look(letter, now);
}

void llc_registry_filled(struct llc *llc, struct llc_mshr *mshr, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    struct denovo_line *line = find(llc, mshr->request.address);
    const uint64_t edge = clock_edge(&llc->clock, now);
    llc->counters.fills++;
    llc_tell_fill(llc, line->address, now, now, MEM_LEVEL_MEMORY);
    mshr->next = llc->free_mshrs;
    llc->free_mshrs = mshr;
    llc->mshrs_used--;
    set_delay(llc, llc->config.fill_clocks);
    by_word->delay += edge - now;
    line->tag = MEM_LEVEL_MEMORY;
    denovo_fetched(by_word->registry, line,
                   by_word->versions ? word_versions_memory(by_word->versions, line->address) : NULL, now);
    line->tag = MEM_LEVEL_L2;
    fetch_rest(llc, now);
    stir(llc, now);
}

void llc_registry_written(struct llc *llc, uint64_t now)
{
    fetch_rest(llc, now);
    stir(llc, now);
}

bool llc_registry_clean(struct llc_entry *entry, uint32_t index, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct llc_registry *by_word = llc->by_word;
    const struct denovo_line *line = &by_word->lines[index];
    set_delay(llc, 0);
    if (has_place(llc) && !line->fetching && !line->evicting && !line->held) {
        llc->counters.maintained++;
        begin_eviction(llc, index, now);
        if (!tags_state(&llc->tags, index))
            return true;
    }
    llc_list_add(&by_word->waiting, entry);
    return false;
}

/* What the registry or memory have made possible. */

static void retry_letters(struct llc *llc, uint64_t now)
{
    struct llc_registry *by_word = llc->by_word;
    by_word->room = false;
    while (by_word->refused.first) {
        struct llc_letter *letter = by_word->refused.first, *next = letter->next;
        if (!give(llc, letter, now))
            return;
        by_word->refused.first = next;
    }
}

static void work(void *owner, uint64_t now)
{
    struct llc *llc = owner;
    struct llc_registry *by_word = llc->by_word;
    struct llc_list waiting = by_word->waiting;
    set_delay(llc, llc->config.hit_clocks - llc->config.tag_clocks);
    if (by_word->victim != TAGS_NONE) {
        const uint32_t index = by_word->victim;
        by_word->victim = TAGS_NONE;
        if (tags_state(&llc->tags, index) && has_place(llc))
            begin_eviction(llc, index, now);
    }
    denovo_registry_retry(by_word->registry, now);
    if (by_word->room)
        retry_letters(llc, now);
    by_word->waiting.first = NULL;
    for (struct llc_entry *entry; (entry = llc_list_take(&waiting));)
        event_schedule(llc->queue, &entry->event, now);
    if (by_word->carrier_refused && by_word->queued < llc->config.queue) {
        by_word->carrier_refused = false;
        denovo_domain_retry(by_word->domain, llc->slice, now);
    }
}

void llc_registry_serve(struct llc *llc, struct denovo_domain *domain, const struct denovo_place *place)
{
    struct llc_registry *by_word = alloc(1, sizeof *by_word);
    const struct denovo_registry_config config = {
        .held = (uint16_t)(llc->config.queue < UINT16_MAX ? llc->config.queue : UINT16_MAX - 1),
        .words = (uint8_t)(llc->config.line / sizeof(uint32_t))};
    llc->by_word = by_word;
    by_word->domain = domain;
    by_word->registry = denovo_registry_new(&config, &home_ops, llc, (struct denovo_post){post, llc, NULL});
    by_word->post = denovo_domain_serve(domain, llc->slice, place, receive, llc);
    by_word->lines = alloc(tags_size(&llc->tags), sizeof *by_word->lines);
    by_word->next_fetch = alloc(tags_size(&llc->tags), sizeof *by_word->next_fetch);
    by_word->first_fetch = by_word->victim = TAGS_NONE;
    event_init(&by_word->work, llc->component, work, llc);
}

void llc_registry_free(struct llc *llc)
{
    struct llc_registry *by_word = llc->by_word;
    if (!by_word)
        return;
    event_cancel(llc->queue, &by_word->work);
    for (struct llc_letter *letter = by_word->all, *next; letter; letter = next) {
        next = letter->all;
        event_cancel(llc->queue, &letter->event);
        free(letter);
    }
    denovo_registry_free(by_word->registry);
    free(by_word->lines);
    free(by_word->next_fetch);
    free(by_word);
}
