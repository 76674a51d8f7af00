/* Lists whose links and owners are members of the elements: no allocation on the hot path. */
#ifndef EMU_SIM_LIST_H
#define EMU_SIM_LIST_H

#include <stddef.h>

/* Appends an element to the list from `first` to `last`, which are linked by the member `link`. The list is empty if `first` is
 * NULL, whatever `last` is. */
#define LIST_APPEND(first, last, element, link)                                                              \
    do {                                                                                                     \
        (element)->link = NULL;                                                                              \
        if (first)                                                                                           \
            (last)->link = (element);                                                                        \
        else                                                                                                 \
            (first) = (element);                                                                             \
        (last) = (element);                                                                                  \
    } while (0)

/* The struct of the type whose member is at the address. */
#define CONTAINER_OF(address, type, member) ((type *)(void *)((char *)(address)-offsetof(type, member)))

#endif
