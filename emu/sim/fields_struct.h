/* Turns the rows of a .def file into the members of a struct:
 *
 *   struct cache_config {
 *   #include "emu/sim/fields_struct.h"
 *   #include "emu/mem/cache.def"
 *   };
 *
 * Rows (the .def file ends with #include "emu/sim/fields_end.h"):
 *   NUMBER(ctype, name, TYPE, initial, min, max, step, explanation, source)
 *   FLAG(name, initial, explanation, source)
 *   CHOICE(enum tag, name, names, initial, explanation, source)     names: array of the choices' names, then NULL
 *   TEXT(name, size, initial, explanation, source)
 * TYPE is an enum field_type without FIELD_. The step "power of two" allows only powers of two. If `initial` is NULL,
 * the kind's derive() computes the value. Rows of kinds with variants:
 *   NUMBER_OF(ctype, name, TYPE, initial0, initial1, min, max, step, explanation, source0, source1)
 *                                                                   all variants, with a default for each
 *   NUMBER_ONLY(variants, ctype, name, TYPE, initial, ...)          only the variants whose bits are set
 *   FLAG_ONLY(variants, name, initial, explanation, source)         likewise */
#define NUMBER(ctype, name, ...)                ctype name;
#define FLAG(name, ...)                         bool name;
#define CHOICE(ctype, name, ...)                ctype name;
#define TEXT(name, size, ...)                   char name[size];
#define NUMBER_OF(ctype, name, ...)             ctype name;
#define NUMBER_ONLY(variants, ctype, name, ...) ctype name;
#define FLAG_ONLY(variants, name, ...)          bool name;
