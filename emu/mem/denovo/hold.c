/* The requests that wait at the registry, in the order of their arrival. */
#include "emu/mem/denovo/state.h"

void denovo_hold(struct denovo_registry *registry, const struct denovo_message *message, uint64_t mask,
                 struct denovo_line *line)
{
    struct denovo_held *entries = denovo_held(registry);
    uint16_t number = registry->free;
    struct denovo_held *entry = &entries[number];
    registry->free = entry->next;
    entry->message = *message;
    entry->message.mask = mask;
    entry->counted = line != NULL;
    entry->next = DENOVO_NOBODY;
    if (registry->held++ == 0)
        registry->first = number;
    else
        entries[registry->last].next = number;
    registry->last = number;
    if (line)
        line->held++;
    else
        registry->placeless++;
}

bool denovo_unhold(struct denovo_registry *registry, uint64_t address, bool without_place,
                   struct denovo_message *message)
{
    struct denovo_held *entries = denovo_held(registry);
    uint16_t number = registry->first;
    struct denovo_held *entry = &entries[number];
    bool fits = without_place ? !entry->counted : entry->message.line == address;
    if (!fits && registry->held == 1)
        return false;
    registry->first = entry->next;
    entry->next = DENOVO_NOBODY;
    if (!fits) {
        entries[registry->last].next = number;
        registry->last = number;
        return false;
    }
    *message = entry->message;
    registry->held--;
    if (entry->counted)
        registry->ops->find(registry->home, entry->message.line)->held--;
    else
        registry->placeless--;
    entry->next = registry->free;
    registry->free = number;
    return true;
}

void denovo_displace(struct denovo_registry *registry, const struct denovo_line *line)
{
    struct denovo_held *entries = denovo_held(registry);
    for (uint16_t i = registry->held ? registry->first : DENOVO_NOBODY; i != DENOVO_NOBODY;
         i = entries[i].next)
        if (entries[i].counted && entries[i].message.line == line->address) {
            entries[i].counted = false;
            registry->placeless++;
        }
}
