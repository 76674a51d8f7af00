/* Ends the rows of a .def file: what fields_struct.h or fields_rows.h has defined goes. */
#undef NUMBER
#undef NUMBER_OF
#undef NUMBER_ONLY
#undef FLAG
#undef FLAG_ONLY
#undef CHOICE
#undef TEXT
#undef FIELD_PLACE
#undef FIELD_ROW
