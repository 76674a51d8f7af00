/* Enumerations with one value for each row of the tables. The build preprocesses this file into
 * $(BUILD)/gen/isa/insn_id.h and replaces that file only if its text has changed, so a change of a row's meaning does
 * not recompile files that use only an instruction's identity. */

/* One value for each row of isa/rows.def (INSN_add ...); INSN_illegal is 0. */
enum insn_id {
    INSN_illegal,
#define INSN(name, ...) INSN_##name,
#include "isa/rows.def"
    INSN_COUNT
};

/* One value for each row of isa/compressed.def. */
enum compressed_id {
#define COMPRESSED(name, ...) COMPRESSED_##name,
#include "isa/compressed.def"
    COMPRESSED_COUNT
};

/* The class of work, which statistics and core models distinguish. */
enum insn_class {
#define CLASS(name, unit, alone, text) CLASS_##name,
#include "isa/class.def"
    CLASS_COUNT
};

enum insn_format {
#define FORMAT(name, ...) FORMAT_##name,
#include "isa/format.def"
    FORMAT_COUNT
};

enum insn_extension {
#define EXTENSION(name, text) EXTENSION_##name,
#include "isa/extension.def"
    EXTENSION_COUNT
};
