#include "emu/net/fabric/post.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/list.h"

void post_init(struct post *post, uint32_t nodes)
{
    *post = (struct post){.waiting = alloc((size_t)nodes * MAIL_CLASSES, sizeof *post->waiting)};
}

void post_free(struct post *post)
{
    while (post->all) {
        struct parcel *next = post->all->all;
        free(post->all);
        post->all = next;
    }
    free(post->waiting);
}

static struct parcel *new_parcel(struct post *post)
{
    struct parcel *parcel = alloc(1, sizeof *parcel);
    parcel->all = post->all;
    post->all = parcel;
    return parcel;
}

struct parcel *post_copy(struct post *post, void *carrier, const struct mail *mail, const void *message,
                         size_t size)
{
    struct parcel *parcel = post->free;
    assert(size <= MAIL_BYTES);
    if (parcel)
        post->free = parcel->next;
    else
        parcel = new_parcel(post);
    parcel->next = NULL;
    parcel->carrier = carrier;
    parcel->mail = *mail;
    memcpy(parcel->bytes, message, size);
    return parcel;
}

void post_drop(struct post *post, struct parcel *parcel)
{
    parcel->next = post->free;
    post->free = parcel;
}

static struct parcel_list *list_at(const struct post *post, uint32_t node, uint32_t class)
{
    return &post->waiting[(size_t)node * MAIL_CLASSES + class];
}

void post_wait(struct post *post, struct parcel *parcel)
{
    struct parcel_list *list = list_at(post, parcel->mail.from, parcel->mail.class);
    LIST_APPEND(list->first, list->last, parcel, next);
}

struct parcel *post_first(const struct post *post, uint32_t node, uint32_t class)
{
    return list_at(post, node, class)->first;
}

void post_advance(struct post *post, uint32_t node, uint32_t class)
{
    struct parcel_list *list = list_at(post, node, class);
    list->first = list->first->next;
}
