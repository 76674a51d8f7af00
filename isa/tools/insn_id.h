/* The enumerations whose values are the rows of the tables. The build runs this file through the preprocessor into
 * $(BUILD)/gen/isa/insn_id.h and replaces that only when its text has changed: who needs an instruction's identity alone
 * is not compiled again when a row's meaning changes. */

/* One value per row of isa/rows.def, INSN_add and so on; INSN_illegal is 0. */
enum insn_id {
    INSN_illegal,
#define INSN(name, ...) INSN_##name,
#include "isa/rows.def"
    INSN_COUNT
};

/* One value per row of isa/compressed.def. */
enum compressed_id {
#define COMPRESSED(name, ...) COMPRESSED_##name,
#include "isa/compressed.def"
    COMPRESSED_COUNT
};

/* What kind of work it is; statistics and core models are told apart by it. */
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
