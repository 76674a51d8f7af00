/* State of reading a description: what the files that read its parts share. */
#ifndef EMU_EXPERIMENT_DESCRIPTION_STATE_H
#define EMU_EXPERIMENT_DESCRIPTION_STATE_H

#include "emu/experiment/description.h"

/* The context of the functions that read a field. */
struct experiment_part {
    struct experiment *e;
    void *target;
};

static inline struct experiment *experiment_of(void *context)
{
    return ((struct experiment_part *)context)->e;
}

/* Returns a zeroed array of `count` elements, or of one element if count is 0. */
void *experiment_array(int count, size_t size);

/* Reads a list of texts, or one text. Returns false and sets err on failure. */
bool experiment_texts(struct experiment *e, const yaml_node_t *node, const char *what,
                      struct experiment_texts *texts, struct error *err);

/* Returns whether a name can be part of a file name. */
bool experiment_good_name(const char *name);

/* Return whether an axis is written as a list, a range or a sample instead of points; and read such an axis (false with err set on
 * failure). */
bool experiment_axis_is_form(struct experiment *e, const yaml_node_t *node);
bool experiment_read_form(struct experiment *e, struct experiment_axis *axis, const yaml_node_t *node,
                          struct error *err);

/* Read the fields that name axes, points and columns: skip, where, columns, tables, references, searches, compare, and means,
 * first their names, and after the columns the programs of each. The context is a struct experiment_part. Return false and set
 * err on failure. */
bool experiment_read_skip(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_where(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_searches(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_compare(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_columns(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_tables(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_mean_names(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_mean_members(void *context, const yaml_node_t *value, struct error *err);
bool experiment_read_references(void *context, const yaml_node_t *value, struct error *err);

#endif
