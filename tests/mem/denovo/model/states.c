#include "tests/mem/denovo/model/state.h"

#include <stdlib.h>
#include <string.h>

#include "emu/sim/alloc.h"
#include "emu/sim/mix.h"

void *model_grow(void *old, size_t *room, size_t needed, size_t size)
{
    if (needed <= *room)
        return old;
    *room = needed * 2;
    return alloc_resize(old, *room * size);
}

static uint64_t hash(const uint64_t *words, size_t length)
{
    uint64_t sum = length;
    for (size_t i = 0; i < length; i++) {
        sum = (sum ^ words[i]) * MIX_FACTOR;
        sum ^= sum >> 29;
    }
    return sum;
}

static size_t find_slot(const struct model *model, const uint64_t *words, size_t length)
{
    size_t slot = hash(words, length) & (model->slot_count - 1);
    for (; model->slots[slot]; slot = (slot + 1) & (model->slot_count - 1)) {
        size_t begin = model->begins[model->slots[slot] - 1], end = model->begins[model->slots[slot]];
        if (end - begin == length && memcmp(model->text + begin, words, length * sizeof *words) == 0)
            break;
    }
    return slot;
}

static void rehash(struct model *model)
{
    model->slot_count *= 4;
    free(model->slots);
    model->slots = alloc(model->slot_count, sizeof *model->slots);
    for (size_t i = 0; i < model->count; i++) {
        size_t length = model->begins[i + 1] - model->begins[i];
        model->slots[find_slot(model, model->text + model->begins[i], length)] = (uint32_t)(i + 1);
    }
}

/* Returns the number of the present state, which it adds if it is new. */
size_t model_add(struct model *model, size_t parent, unsigned action)
{
    struct codec codec = {.reading = false};
    model_code(&codec, model);
    size_t length = (codec.bit + 63) / 64, slot = find_slot(model, codec.words, length);
    if (model->slots[slot])
        return model->slots[slot] - 1;
    size_t number = model->count++;
    if (number + 2 > model->capacity) {
        model->capacity = (number + 2) * 2;
        model->begins = alloc_resize(model->begins, model->capacity * sizeof *model->begins);
        model->origins = alloc_resize(model->origins, model->capacity * sizeof *model->origins);
    }
    model->text = model_grow(model->text, &model->room, model->used + length, sizeof *model->text);
    memcpy(model->text + model->used, codec.words, length * sizeof *codec.words);
    model->begins[number] = model->used;
    model->used += length;
    model->begins[number + 1] = model->used;
    model->origins[number] = (struct origin){(uint32_t)parent, (uint16_t)action};
    model->slots[slot] = (uint32_t)(number + 1);
    if (model->count * 2 > model->slot_count)
        rehash(model);
    return number;
}
