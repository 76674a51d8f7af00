/* Messages between numbered nodes of a machine, which take time: the small side of a network.
 *
 * A carrier is an ideal link, a crossbar or a mesh of routers. Who sends, knows node numbers and the carrier,
 * and nothing of routes. What a carrier must promise:
 * - Each message is delivered once, after a finite time, never within the call of send(). Messages may overtake
 *   each other, also those between the same two nodes.
 * - Classes do not hold each other up: a message of a class waits at most for messages of its own class and of
 *   those behind it in enum mail_class (a request for forwards, a forward for responses, a response for
 *   responses only), as with a virtual network for each class.
 * - send() always takes the message. What is under way is bounded by what the senders may have open, so a
 *   carrier that keeps waiting messages in a queue for each node and class needs no more room than that.
 * - A receiver may refuse a message of class MAIL_REQUEST, and no other. The carrier keeps the message and may
 *   keep those of its class behind it, to the same node, until retry() is called for that node. */
#ifndef EMU_MEM_MAIL_H
#define EMU_MEM_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mail_class { MAIL_REQUEST, MAIL_FORWARD, MAIL_RESPONSE, MAIL_CLASSES };

/* What a message is part of, for statistics. MAIL_WRITE: of stores that do not carry their words. */
enum mail_purpose { MAIL_READ, MAIL_WRITE, MAIL_WRITE_BACK, MAIL_OTHER, MAIL_PURPOSES };

enum { MAIL_BYTES = 192 }; /* the largest message in the host's memory */

/* What the carrier needs to know of a message. */
struct mail {
    uint16_t from, to; /* nodes */
    uint8_t class;     /* enum mail_class */
    uint8_t purpose;   /* enum mail_purpose */
    uint32_t bytes;    /* on the wire, header included */
    /* Gives the message to its receiver at time `now`, in fs. Returns false if the receiver refuses it. The
     * message belongs to the carrier and is valid during the call. */
    bool (*deliver)(void *receiver, const void *message, uint64_t now);
    void *receiver;
};

struct mail_ops {
    /* Sends a copy of the `size` bytes at message (at most MAIL_BYTES), at time `now` in fs, which is not before
     * the event queue's. */
    void (*send)(void *carrier, const struct mail *mail, const void *message, size_t size, uint64_t now);
    /* The node accepts requests again after it has refused one. */
    void (*retry)(void *carrier, uint16_t node, uint64_t now);
    /* Lets statistics show what is carried by purpose, memory requests of others included. Called before they are
     * registered, any number of times. */
    void (*sort)(void *carrier);
};

#endif
