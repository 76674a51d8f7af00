/* A coherent domain under DeNovo (denovo.h): the units and registries of a machine, by number, and the way that their messages
 * take.
 *
 * Caches and stashes are units; the slices of the last level are registries, which take turns by blocks of addresses. Each has a
 * place, the node of a network that carries messages (mail.h). A message between two places of the same network is the
 * network's. Any other one takes a fixed time: between parts that no network joins, and between those at one node.
 *
 * A registration can wait for others of the same line and map, with which it becomes one message. It leaves when its time is
 * over, or when the unit has to wait for anything (denovo_hasten()). */
#ifndef EMU_MEM_DENOVO_DOMAIN_H
#define EMU_MEM_DENOVO_DOMAIN_H

#include "emu/mem/denovo.h"
#include "emu/mem/site.h"
#include "emu/sim/event.h"
#include "emu/sim/report/stats.h"

struct denovo_domain;
struct denovo_member;

struct denovo_domain_config {
    uint32_t slices;
    uint32_t block_shift; /* log2 of the bytes of a block */
    uint32_t line;        /* bytes */
    uint64_t latency;     /* of a message that no network carries, in fs */
    uint64_t combine; /* for which a registration waits for others of its line, in fs; 0: it leaves at once */
};

/* Makes a domain without units, whose registries have no places. component: of its events. Never NULL. Free it with
 * denovo_domain_free() after its members, whose messages under way it drops. */
struct denovo_domain *denovo_domain_new(const struct denovo_domain_config *config, struct event_queue *queue,
                                        uint32_t component);
void denovo_domain_free(struct denovo_domain *domain);

const struct denovo_domain_config *denovo_domain_configuration(const struct denovo_domain *domain);

/* Where a member stands: end `end` of a part; mail is as mem_site has it, and is not used after the call. */
struct denovo_place {
    const struct mail_ops *ops; /* NULL: at no network */
    void *carrier;
    uint16_t node;
};
struct denovo_place denovo_place_of(const struct mem_site_mail *mail, uint32_t end);

/* Takes a message; only a registry may return false, to a request: then denovo_domain_retry() must follow. */
typedef bool denovo_receiver(void *receiver, const struct denovo_message *message, uint64_t now);

/* Adds a unit, and stores its number. Returns what it posts with. */
struct denovo_post denovo_domain_join(struct denovo_domain *domain, const struct denovo_place *place,
                                      denovo_receiver *receive, void *receiver, uint16_t *number);

/* Sets the place and the receiver of a slice's registry. Returns what it posts with. */
struct denovo_post denovo_domain_serve(struct denovo_domain *domain, uint32_t slice,
                                       const struct denovo_place *place, denovo_receiver *receive,
                                       void *receiver);

/* The slice accepts requests again. */
void denovo_domain_retry(struct denovo_domain *domain, uint32_t slice, uint64_t now);

/* Makes messages carry values, for checkers. Call it before the first message. */
void denovo_domain_carry_values(struct denovo_domain *domain);

/* Registers the numbers of messages by kind, such as "messages.FwdRead", and "messages.bytes". */
void denovo_domain_publish(struct denovo_domain *domain, struct stats *stats, struct scope scope);

#endif
