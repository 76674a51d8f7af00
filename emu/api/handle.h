/* What all models of the library have in common. */
#ifndef EMU_API_HANDLE_H
#define EMU_API_HANDLE_H

#include "emu/api/undercroft.h"
#include "emu/sim/error.h"
#include "emu/sim/event.h"
#include "emu/sim/report/stats.h"

/* A kind of model. */
struct handle_kind {
    const char *name; /* "memory" */
    void (*free)(void *model);
    struct stats *(*stats)(void *model);
    uint64_t (*period)(const void *model);
    /* Of models whose queue moves only with the rest of them, which their handles do not have: the present time; the time of
     * the next event; run to a time; run about an instruction. Otherwise NULL. */
    uint64_t (*now)(const void *model);
    uint64_t (*next)(const void *model);
    void (*run)(void *model, uint64_t until);
    void (*step)(void *model);
};

/* A handle. It is never given back, so that calls with a freed one read memory that is still theirs, and so that no other model
 * gets its address: a table of handles would be state that all instances and threads share. */
struct undercroft {
    uint64_t magic; /* depends on the handle's own address, so a copy is no handle; 0: freed */
    const struct handle_kind *kind;
    void *model;
    struct event_queue *queue; /* NULL: kind->run runs the model */
    unsigned inside; /* calls of undercroft_run() and the like that are under way: a callback runs */
};

/* A handle's magic word. */
static inline uint64_t handle_magic(const struct undercroft *handle)
{
    return UINT64_C(0x7a1de4c20f755e11) ^ (uint64_t)(uintptr_t)handle;
}

/* Returns whether a pointer is a handle that is not freed, of that kind unless kind is NULL. */
static inline bool handle_is(const struct undercroft *handle, const struct handle_kind *kind)
{
    return handle && handle->magic == handle_magic(handle) && (!kind || handle->kind == kind);
}

struct undercroft *handle_new(const struct handle_kind *kind, void *model, struct event_queue *queue);

/* Marks the handle as freed; its own memory stays. */
void handle_end(struct undercroft *handle);

/* Sets the error, unless it is NULL. Return the status. */
int handle_fail(struct undercroft_error *error, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int handle_fail_with(struct undercroft_error *error, int status, const struct error *err);

/* Clears the error, unless it is NULL. Returns UNDERCROFT_OK. */
static inline int handle_fine(struct undercroft_error *error)
{
    if (error) {
        error->status = UNDERCROFT_OK;
        error->text[0] = '\0';
    }
    return UNDERCROFT_OK;
}

/* Says why it is no handle of that kind. Returns the status. */
int handle_refuse(const struct undercroft *handle, const struct handle_kind *kind,
                  struct undercroft_error *error);

/* Returns UNDERCROFT_OK if handle_is(); else the status with error set. */
static inline int handle_check(const struct undercroft *handle, const struct handle_kind *kind,
                               struct undercroft_error *error)
{
    return handle_is(handle, kind) ? handle_fine(error) : handle_refuse(handle, kind, error);
}

/* As handle_check(), for calls that callbacks must not make. */
int handle_refuse_inside(const struct undercroft *handle, struct undercroft_error *error);
static inline int handle_check_outside(const struct undercroft *handle, struct undercroft_error *error)
{
    return handle_is(handle, NULL) && !handle->inside ? handle_fine(error)
                                                      : handle_refuse_inside(handle, error);
}

/* Checks a source: its size, and that it has a file or a text. `name` receives what messages call it. */
int handle_source(const struct undercroft_source *source, const char **name, struct undercroft_error *error);

#endif
