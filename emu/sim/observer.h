/* Lists of observers: who is told what happens in a part.
 *
 * A kind of part declares what its observers look like: a struct whose first member is `struct observer link`, then
 * functions, which may be NULL, and a `context` for them. The struct is its owner's and is linked into the list, so that
 * adding and removing need no memory and there may be any number. Observers are told in the order in which they were added.
 * An empty list costs the part one test.
 */
#ifndef EMU_SIM_OBSERVER_H
#define EMU_SIM_OBSERVER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct observer {
    struct observer *next;
};

/* Zeroed: empty. */
struct observer_list {
    struct observer *first;
};

/* Adds an observer, which is in no list, behind all others. It stays where it is until it is removed or the part is gone. */
static inline void observer_add(struct observer_list *list, struct observer *observer)
{
    struct observer **at = &list->first;
    while (*at) {
        assert(*at != observer);
        at = &(*at)->next;
    }
    observer->next = NULL;
    *at = observer;
}

/* The same in front of all others. */
static inline void observer_add_first(struct observer_list *list, struct observer *observer)
{
    observer->next = list->first;
    list->first = observer;
}

/* Takes an observer out of the list; nothing happens if it is not in it. While an observer is being told, it may remove
 * itself, but no other. */
static inline void observer_remove(struct observer_list *list, const struct observer *observer)
{
    for (struct observer **at = &list->first; *at; at = &(*at)->next)
        if (*at == observer) {
            *at = observer->next;
            return;
        }
}

/* Calls function(context, ...) of all observers in the list, which are of `type` ("struct cache_observer"). */
#define OBSERVER_TELL(list, type, function, ...)                                                             \
    do {                                                                                                     \
        for (struct observer *told_ = (list)->first, *next_; told_; told_ = next_) {                         \
            const type *observer_ = (const type *)(const void *)told_;                                       \
            static_assert(offsetof(type, link) == 0, "an observer begins with its link");                    \
            next_ = told_->next;                                                                             \
            if (observer_->function)                                                                         \
                observer_->function(observer_->context __VA_OPT__(, ) __VA_ARGS__);                          \
        }                                                                                                    \
    } while (0)

#endif
