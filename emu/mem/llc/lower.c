/* The last level's requests to memory: reads, write-backs and forwarded requests. */
#include <assert.h>
#include <stddef.h>

#include "emu/mem/llc/state.h"
#include "emu/sim/list.h"
#include "emu/sim/mix.h"

enum { WORD = 4 }; /* bytes of a bit of mem_request.mask */

static bool send(struct llc *llc, enum llc_way way, struct mem_request *request, uint64_t now)
{
    return mem_link_request(&llc->lower[way], request, now);
}

void llc_send_reads(struct llc *llc, uint64_t now)
{
    while (llc->unsent_reads) {
        struct llc_mshr *mshr = llc->unsent_reads;
        llc->unsent_reads = mshr->next;
        if (send(llc, LLC_READS, &mshr->request, now))
            continue;
        llc->unsent_reads = mshr;
        return;
    }
}

static struct llc_mshr *take_mshr(struct llc *llc, uint64_t line)
{
    struct llc_mshr *mshr = llc->free_mshrs;
    assert(mshr);
    llc->free_mshrs = mshr->next;
    llc->mshrs_used++;
    mshr->entry = NULL;
    mem_request_init(&mshr->request, MEM_READ, line, llc->config.line);
    mshr->request.requester = llc->requester;
    return mshr;
}

static void send_read(struct llc *llc, struct llc_mshr *mshr, uint64_t now)
{
    bool first = !llc->unsent_reads;
    LIST_APPEND(llc->unsent_reads, llc->unsent_reads_last, mshr, next);
    if (first)
        llc_send_reads(llc, now);
}

void llc_read_memory(struct llc *llc, struct llc_entry *entry, uint64_t now)
{
    struct llc_mshr *mshr = take_mshr(llc, entry->line);
    mshr->entry = entry;
    mshr->request.requester = entry->request->requester;
    mshr->request.kind = entry->request->kind;
    mshr->request.divergent = entry->request->divergent;
    send_read(llc, mshr, now);
}

void llc_read_line(struct llc *llc, uint64_t line, uint64_t now)
{
    send_read(llc, take_mshr(llc, line), now);
}

bool llc_can_write(const struct llc *llc)
{
    return llc->free_writes != NULL;
}

static uint32_t leaving_slot(uint64_t line)
{
    uint64_t hash = line * MIX_FACTOR;
    return (uint32_t)(hash >> 32) % LLC_LEAVING;
}

bool llc_writing(const struct llc *llc, uint64_t line)
{
    if (!llc->leaving[leaving_slot(line)])
        return false;
    for (uint32_t i = 0; i < llc->config.write_buffer; i++)
        if (llc->writes[i].used && llc->writes[i].line == line)
            return true;
    return false;
}

/* Returns the write of the line that memory has not accepted yet, or NULL. */
static struct llc_outgoing *unsent_of(const struct llc *llc, uint64_t line)
{
    struct llc_outgoing *out = llc->unsent_writes;
    while (out && out->line != line)
        out = out->next;
    return out;
}

bool llc_can_store(const struct llc *llc, uint64_t line)
{
    return llc_can_write(llc) || unsent_of(llc, line);
}

/* Returns the set of all words of a line. */
static uint64_t all_words(const struct llc *llc)
{
    return UINT64_MAX >> (64 - llc->config.line / WORD);
}

uint64_t llc_words_of(const struct llc_entry *entry)
{
    const struct mem_request *request = entry->request;
    const uint64_t offset = request->address - entry->line;
    const uint64_t first = offset / WORD, last = (offset + request->size - 1) / WORD;
    const uint64_t span = UINT64_MAX >> (63 - (last - first));
    return (request->mask & span) << first;
}

/* Makes the write's request cover these words of its line, from the first to the last. */
static void set_words(const struct llc *llc, struct llc_outgoing *out, uint64_t words)
{
    const unsigned first = (unsigned)__builtin_ctzll(words), last = 63 - (unsigned)__builtin_clzll(words);
    const uint64_t mask = words >> first, whole = UINT64_MAX >> (63 - (last - first));
    out->words = words;
    mem_request_init(&out->request, MEM_WRITE, out->line + WORD * first, WORD * (last - first + 1));
    out->request.mask = mask == whole ? UINT64_MAX : mask;
    out->request.requester = llc->requester;
}

void llc_send_writes(struct llc *llc, uint64_t now)
{
    bool some = false;
    while (llc->unsent_writes) {
        struct llc_outgoing *out = llc->unsent_writes;
        llc->unsent_writes = out->next;
        if (!send(llc, LLC_WRITES, &out->request, now)) {
            llc->unsent_writes = out;
            break;
        }
        llc->accepted++;
        some = true;
    }
    if (some)
        llc_pass_ranges(llc, now);
}

/* Appends a write of the line to those that memory has not accepted. */
static void write_words(struct llc *llc, uint64_t line, uint64_t words, uint16_t by, uint64_t now)
{
    struct llc_outgoing *out = llc->free_writes;
    assert(out);
    llc->free_writes = out->next;
    out->used = true;
    out->by = by;
    out->line = line;
    llc->leaving[leaving_slot(line)]++;
    set_words(llc, out, words);
    out->number = llc->written++;
    llc->writes_used++;
    llc_tell_write(llc, line, now);
    bool first = !llc->unsent_writes;
    LIST_APPEND(llc->unsent_writes, llc->unsent_writes_last, out, next);
    if (first)
        llc_send_writes(llc, now);
}

void llc_write_back(struct llc *llc, uint32_t index, uint64_t now)
{
    const uint64_t line = llc_line_at(llc, index), held = llc->words_held[index];
    llc->counters.write_backs++;
    (void)llc_transfer(llc, line, now);
    write_words(llc, line, held ? held : all_words(llc), LLC_SEVERAL, now);
}

void llc_store_words(struct llc_entry *entry, uint64_t now)
{
    struct llc *llc = entry->llc;
    struct llc_outgoing *out = unsent_of(llc, entry->line);
    const uint16_t by = entry->request->requester;
    llc->counters.written_through++;
    if (!out) {
        write_words(llc, entry->line, llc_words_of(entry), by, now);
        return;
    }
    llc->counters.combined++;
    out->by = out->by == by ? by : LLC_SEVERAL;
    set_words(llc, out, out->words | llc_words_of(entry));
}

bool llc_pass(struct llc *llc, struct mem_link *link, struct mem_request *request, uint64_t now)
{
    if (!llc->lower[LLC_PASSED].waiting && send(llc, LLC_PASSED, request, now))
        return true;
    if (link)
        mem_waiters_add(&llc->passed, link);
    return false;
}

void llc_pass_ranges(struct llc *llc, uint64_t now)
{
    while (llc->ranges.first && llc->ranges.first->barrier <= llc->accepted) {
        struct llc_entry *entry = llc->ranges.first;
        if (!llc_pass(llc, NULL, entry->request, now))
            return;
        (void)llc_list_take(&llc->ranges);
        llc_release(entry, now);
    }
}

struct llc_entry *llc_line_arrived(struct llc *llc, struct mem_request *request, uint64_t now)
{
    struct llc_mshr *mshr = CONTAINER_OF(request, struct llc_mshr, request);
    struct llc_entry *entry = mshr->entry;
    entry->request->level = request->level == MEM_LEVEL_L1 ? MEM_LEVEL_MEMORY : request->level;
    llc->counters.fills++;
    llc_tell_fill(llc, entry->line, entry->asked, now, entry->request->level);
    mshr->next = llc->free_mshrs;
    llc->free_mshrs = mshr;
    llc->mshrs_used--;
    return entry;
}

const struct llc_outgoing *llc_line_written(struct llc *llc, struct mem_request *request)
{
    struct llc_outgoing *out = CONTAINER_OF(request, struct llc_outgoing, request);
    out->used = false;
    llc->writes_used--;
    llc->leaving[leaving_slot(out->line)]--;
    out->next = llc->free_writes;
    llc->free_writes = out;
    return out;
}

bool llc_push(struct llc *llc, struct mem_push *push)
{
    return mem_pushes_add(&llc->pushes, push, llc->written, llc->writes_used);
}

bool llc_push_of(struct llc *llc, uint16_t requester, struct mem_push *push)
{
    mem_push_begin(push);
    for (uint32_t i = 0; i < llc->config.write_buffer; i++)
        if (llc->writes[i].used && (llc->writes[i].by == requester || llc->writes[i].by == LLC_SEVERAL))
            mem_push_include(push, llc->writes[i].number);
    return mem_pushes_add_some(&llc->pushes, push);
}
