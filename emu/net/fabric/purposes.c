#include "emu/net/fabric/purposes.h"

#include "emu/mem/request.h"
#include "emu/net/fabric/post.h"

/* Memory requests have words with them, or come back with them. */
static enum mail_purpose purpose_of_request(const struct mem_request *request)
{
    if (request->op == MEM_READ)
        return MAIL_READ;
    return request->op == MEM_WRITE && !request->atomic ? MAIL_WRITE_BACK : MAIL_OTHER;
}

static void hop(void *context, const struct network_hop *hop, const struct network_packet *packet)
{
    struct purposes *purposes = context;
    (void)hop;
    purposes->hops[packet->kind == OWNER_PARCEL ? ((const struct parcel *)packet->owner)->mail.purpose
                                                : purpose_of_request(packet->owner)]++;
}

void purposes_count(struct purposes *purposes, struct network *network)
{
    if (purposes->counted)
        return;
    purposes->counted = true;
    purposes->observer = (struct network_observer){.hop = hop, .context = purposes};
    network_observe(network, &purposes->observer);
}

void purposes_publish(const struct purposes *purposes, struct stats *stats, struct scope scope)
{
    const struct stats_row rows[] = {
        {"read_hops", &purposes->hops[MAIL_READ], "flits", "Of `hops`, those of reads and their answers."},
        {"write_hops", &purposes->hops[MAIL_WRITE], "flits", "Of `hops`, those of registrations of words."},
        {"write_back_hops", &purposes->hops[MAIL_WRITE_BACK], "flits",
         "Of `hops`, those of words that are written to the level below, and what asks for them."},
        {"other_hops", &purposes->hops[MAIL_OTHER], "flits", "Of `hops`, those of atomics and maintenance."},
    };
    if (purposes->counted)
        stats_counters(stats, scope, rows, sizeof rows / sizeof *rows);
}
