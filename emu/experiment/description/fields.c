/* Values that several parts of a description have. */
#include <string.h>

#include "emu/experiment/description/state.h"
#include "emu/sim/alloc.h"

void *experiment_array(int count, size_t size)
{
    void *memory = alloc((size_t)(count > 0 ? count : 1), size);
    return memory;
}

bool experiment_good_name(const char *name)
{
    return *name &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+") == strlen(name);
}

bool experiment_texts(struct experiment *e, const yaml_node_t *node, const char *what,
                      struct experiment_texts *texts, struct error *err)
{
    bool one = node->type == YAML_SCALAR_NODE;
    int count = one ? 1 : doc_items(&e->doc, node, what, err);
    if (count < 0)
        return false;
    texts->items = experiment_array(count + 1, sizeof *texts->items); /* ended by NULL */
    for (texts->count = 0; texts->count < count; texts->count++) {
        const yaml_node_t *item = one ? node : doc_item(&e->doc, node, texts->count);
        if (!(texts->items[texts->count] = doc_text(&e->doc, item, what, err)))
            return false;
    }
    return true;
}
