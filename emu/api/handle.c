#include "emu/api/handle.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emu/sim/alloc.h"

struct undercroft *handle_new(const struct handle_kind *kind, void *model, struct event_queue *queue)
{
    struct undercroft *handle = alloc(1, sizeof *handle);
    handle->magic = handle_magic(handle);
    handle->kind = kind;
    handle->model = model;
    handle->queue = queue;
    return handle;
}

/* Of LeakSanitizer, where it is linked: what stays on purpose is no leak of the user's program. */
extern void lsan_ignore(const void *object) __asm__("__lsan_ignore_object") __attribute__((weak));

void handle_end(struct undercroft *handle)
{
    *handle = (struct undercroft){.magic = 0};
    if (lsan_ignore)
        lsan_ignore(handle);
}

int handle_fail(struct undercroft_error *error, int status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return status;
}

int handle_fail_with(struct undercroft_error *error, int status, const struct error *err)
{
    return handle_fail(error, status, "%s", err->text);
}

int handle_refuse(const struct undercroft *handle, const struct handle_kind *kind,
                  struct undercroft_error *error)
{
    if (!handle)
        return handle_fail(error, UNDERCROFT_HANDLE, "the handle is NULL");
    if (!handle_is(handle, NULL))
        return handle_fail(error, UNDERCROFT_HANDLE, "this is no handle of a model, or it has been freed");
    return handle_fail(error, UNDERCROFT_HANDLE, "the handle is that of a %s; the call is for a %s",
                       handle->kind->name, kind->name);
}

int handle_refuse_inside(const struct undercroft *handle, struct undercroft_error *error)
{
    if (!handle_is(handle, NULL))
        return handle_refuse(handle, NULL, error);
    return handle_fail(error, UNDERCROFT_CALLBACK,
                       "a callback of this %s must not run or free it: return first", handle->kind->name);
}

int handle_source(const struct undercroft_source *source, const char **name, struct undercroft_error *error)
{
    if (!source)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the source of the description is NULL");
    if (source->size != sizeof *source)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "the source's `size` is %zu, not sizeof(struct undercroft_source), %zu",
                           source->size, sizeof *source);
    if (!source->file == !source->text)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "a description is a file or a text: one of `file` and `text` must be NULL");
    for (size_t i = 0; i < source->set_count; i++)
        if (!source->sets || !source->sets[i])
            return handle_fail(error, UNDERCROFT_ARGUMENT, "sets[%zu] is NULL", i);
    *name = source->file ? source->file : "description";
    return handle_fine(error);
}

uint32_t undercroft_version(void)
{
    return UNDERCROFT_VERSION;
}

int undercroft_free(struct undercroft *model, struct undercroft_error *error)
{
    if (!model)
        return handle_fine(error);
    const int status = handle_check_outside(model, error);
    if (status != UNDERCROFT_OK)
        return status;
    model->kind->free(model->model);
    handle_end(model);
    return UNDERCROFT_OK;
}

static uint64_t now_of(const struct undercroft *model)
{
    return model->queue ? model->queue->now : model->kind->now(model->model);
}

int undercroft_now(const struct undercroft *model, uint64_t *now, struct undercroft_error *error)
{
    const int status = handle_check(model, NULL, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!now)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`now` is NULL");
    *now = now_of(model);
    return UNDERCROFT_OK;
}

int undercroft_next(struct undercroft *model, uint64_t *next, struct undercroft_error *error)
{
    const int status = handle_check(model, NULL, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!next)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`next` is NULL");
    *next = model->queue ? event_queue_next(model->queue) : model->kind->next(model->model);
    return UNDERCROFT_OK;
}

int undercroft_period(const struct undercroft *model, uint64_t *period, struct undercroft_error *error)
{
    const int status = handle_check(model, NULL, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!period)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`period` is NULL");
    *period = model->kind->period(model->model);
    return UNDERCROFT_OK;
}

/* Runs a model that is at rest. */
static int run_to(struct undercroft *model, uint64_t until, struct undercroft_error *error)
{
    const uint64_t now = now_of(model);
    if (until < now)
        return handle_fail(error, UNDERCROFT_TIME,
                           "time would run backwards: from %" PRIu64 " fs to %" PRIu64 " fs", now, until);
    model->inside++;
    if (model->queue)
        event_queue_run(model->queue, until);
    else
        model->kind->run(model->model, until);
    model->inside--;
    return UNDERCROFT_OK;
}

int undercroft_run(struct undercroft *model, uint64_t until, struct undercroft_error *error)
{
    const int status = handle_check_outside(model, error);
    return status == UNDERCROFT_OK ? run_to(model, until, error) : status;
}

int undercroft_tick(struct undercroft *model, struct undercroft_error *error)
{
    const int status = handle_check_outside(model, error);
    if (status != UNDERCROFT_OK)
        return status;
    const uint64_t now = now_of(model), period = model->kind->period(model->model);
    if (now > UINT64_MAX - 1 - period)
        return handle_fail(error, UNDERCROFT_TIME, "simulated time is over");
    return run_to(model, now + period, error);
}

int undercroft_step(struct undercroft *model, struct undercroft_error *error)
{
    const int status = handle_check_outside(model, error);
    if (status != UNDERCROFT_OK)
        return status;
    model->inside++;
    if (model->queue)
        (void)event_queue_step(model->queue);
    else
        model->kind->step(model->model);
    model->inside--;
    return UNDERCROFT_OK;
}
