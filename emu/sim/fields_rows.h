/* Turns the rows of a .def file (explained in fields_struct.h) into rows of struct part_field:
 *
 *   #define PART struct cache_config
 *   static const struct part_field fields[] = {
 *   #include "emu/sim/fields_rows.h"
 *   #include "emu/mem/cache.def"
 *   };
 *
 * For a struct inside another, define PREFIX as the prefix of the names ("predict.") and WITHIN(name) as the member
 * (predict.name). */
#ifndef PREFIX
#define PREFIX ""
#endif
#ifndef WITHIN
#define WITHIN(name) name
#endif
#define FIELD_PLACE(name) (uint32_t) offsetof(PART, WITHIN(name)), (uint32_t)sizeof(((PART *)0)->WITHIN(name))
#define FIELD_ROW(variants, name, type, names, initial0, initial1, min, max, step, explanation, source0,     \
                  source1)                                                                                   \
    {PREFIX #name, type,        FIELD_PLACE(name), min, max, step, names, {initial0, initial1},              \
     variants,     explanation, {source0, source1}},
#define NUMBER_ONLY(variants, ctype, name, TYPE, initial, min, max, step, explanation, source)               \
    FIELD_ROW(variants, name, FIELD_##TYPE, NULL, initial, initial, min, max, step, explanation, source,     \
              source)
#define NUMBER_OF(ctype, name, TYPE, initial0, initial1, min, max, step, explanation, source0, source1)      \
    FIELD_ROW(0, name, FIELD_##TYPE, NULL, initial0, initial1, min, max, step, explanation, source0, source1)
#define NUMBER(ctype, name, TYPE, initial, min, max, step, explanation, source)                              \
    FIELD_ROW(0, name, FIELD_##TYPE, NULL, initial, initial, min, max, step, explanation, source, source)
#define FLAG_ONLY(variants, name, initial, explanation, source)                                              \
    FIELD_ROW(variants, name, FIELD_BOOL, NULL, initial, initial, "", "", "", explanation, source, source)
#define FLAG(name, initial, explanation, source) FLAG_ONLY(0, name, initial, explanation, source)
#define CHOICE(ctype, name, names, initial, explanation, source)                                             \
    FIELD_ROW(0, name, FIELD_CHOICE, names, initial, initial, "", "", "", explanation, source, source)
#define TEXT(name, size, initial, explanation, source)                                                       \
    FIELD_ROW(0, name, FIELD_TEXT, NULL, initial, initial, "", "", "", explanation, source, source)
