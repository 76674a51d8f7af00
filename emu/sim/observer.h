/* Lists of observers, which are told what happens in a part.
 *
 * A kind of part defines the type of its observers: a struct whose first member is `struct observer link`, followed by
 * functions, which may be NULL, and their `context`. The observer owns the struct, which is linked into the list, so
 * adding and removing allocate nothing and any number may observe. Observers are told in the order of their addition.
 * An empty list costs the part one test. */
#ifndef EMU_SIM_OBSERVER_H
#define EMU_SIM_OBSERVER_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

struct observer {
    struct observer *next;
};

/* All zeros: an empty list. */
struct observer_list {
    struct observer *first;
};

/* Appends an observer, which must be in no list. It must stay valid until it is removed or the part is freed. */
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

/* Like observer_add(), but prepends. */
static inline void observer_add_first(struct observer_list *list, struct observer *observer)
{
    observer->next = list->first;
    list->first = observer;
}

/* Removes an observer; does nothing if it is not in the list. An observer that is being told may remove itself, but no
 * other. */
static inline void observer_remove(struct observer_list *list, const struct observer *observer)
{
    for (struct observer **at = &list->first; *at; at = &(*at)->next)
        if (*at == observer) {
            *at = observer->next;
            return;
        }
}

/* Calls function(context, ...) of all observers in the list; their type is `type` ("struct cache_observer"). */
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
