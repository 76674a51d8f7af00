/* Ends a .def file of fields: undefines the macros of fields_struct.h and fields_rows.h. */
#undef NUMBER
#undef NUMBER_OF
#undef NUMBER_ONLY
#undef FLAG
#undef FLAG_ONLY
#undef CHOICE
#undef TEXT
#undef FIELD_PLACE
#undef FIELD_ROW
