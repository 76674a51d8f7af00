/* The messages of a fabric that are no memory requests (emu/mem/mail.h), and those of them that wait at a node to enter the
 * network. Only for the files of the folder. */
#ifndef EMU_NET_FABRIC_POST_H
#define EMU_NET_FABRIC_POST_H

#include "emu/mem/mail.h"
#include "emu/sim/event.h"

struct parcel {
    struct parcel *next, *all; /* in its list, or among the free ones; of all that were made */
    void *carrier;
    struct event event; /* sends the message, if it is sent for a later time */
    uint64_t time;      /* fs at which it is sent */
    struct mail mail;
    _Alignas(max_align_t) unsigned char bytes[MAIL_BYTES];
};

/* What network_packet.owner is, as its `kind`. */
enum { OWNER_REQUEST, OWNER_PARCEL };

struct parcel_list {
    struct parcel *first, *last;
};

struct post {
    struct parcel *free, *all;
    struct parcel_list *waiting; /* [node * MAIL_CLASSES + class] */
};

void post_init(struct post *post, uint32_t nodes);
void post_free(struct post *post);

/* Returns a copy of the message, which lasts until post_drop(). Aborts when out of memory. */
struct parcel *post_copy(struct post *post, void *carrier, const struct mail *mail, const void *message,
                         size_t size);
void post_drop(struct post *post, struct parcel *parcel);

/* The queue of a node and class, oldest first. */
void post_wait(struct post *post, struct parcel *parcel);
struct parcel *post_first(const struct post *post, uint32_t node, uint32_t class); /* NULL: none waits */
void post_advance(struct post *post, uint32_t node, uint32_t class);

#endif
