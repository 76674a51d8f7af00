/* Memories of the library. */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/api/handle.h"
#include "emu/machine/alone/memory.h"
#include "emu/sim/alloc.h"

struct memory {
    struct tree *tree;
    struct alone_memory *alone;
    struct alone_intake *intake; /* of `alone` */
    struct undercroft_memory_client client;
};

static void free_memory(void *model)
{
    struct memory *memory = model;
    alone_memory_free(memory->alone);
    tree_free(memory->tree);
    free(memory);
}

static struct stats *stats(void *model)
{
    return alone_memory_stats(((struct memory *)model)->alone);
}

static const struct dram_config *config_of(const struct memory *memory)
{
    return &alone_memory_dram(memory->alone)->common.config;
}

static uint64_t period(const void *model)
{
    return config_of(model)->tCK;
}

static const struct handle_kind kind = {
    .name = "memory", .free = free_memory, .stats = stats, .period = period};

static int check_client(const struct undercroft_memory_client *client, struct undercroft_error *error)
{
    if (!client)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the client is NULL");
    if (client->size != sizeof *client)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "the client's `size` is %zu, not sizeof(struct undercroft_memory_client), %zu",
                           client->size, sizeof *client);
    if (!client->answer)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "the client's `answer` is NULL");
    return UNDERCROFT_OK;
}

int undercroft_memory_new(struct undercroft **memory, const struct undercroft_source *source,
                          const struct undercroft_memory_client *client, struct undercroft_error *error)
{
    struct error err;
    const char *name;
    if (!memory)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`memory`, which receives the handle, is NULL");
    *memory = NULL;
    int status = handle_source(source, &name, error);
    if (status == UNDERCROFT_OK)
        status = check_client(client, error);
    if (status != UNDERCROFT_OK)
        return status;
    const struct alone_source description = {name, source->text, source->sets, source->set_count};
    struct tree *tree = alone_memory_tree(&description, &err);
    if (!tree)
        return handle_fail_with(error, UNDERCROFT_DESCRIPTION, &err);
    struct memory *model = alloc(1, sizeof *model);
    const struct alone_client callbacks = {client->answer, client->room, client->context};
    *model = (struct memory){.tree = tree, .alone = alone_memory_new(tree, &callbacks), .client = *client};
    model->intake = alone_memory_intake(model->alone);
    *memory = handle_new(&kind, model, alone_memory_queue(model->alone));
    return UNDERCROFT_OK;
}

/* Says why a request is refused that the memory can never take. Returns the status. */
static __attribute__((noinline)) int refuse(struct undercroft *memory, int operation, uint64_t address,
                                            uint64_t bytes, struct undercroft_error *error)
{
    struct error err;
    const int status = handle_check(memory, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (operation != UNDERCROFT_READ && operation != UNDERCROFT_WRITE)
        return handle_fail(error, UNDERCROFT_ARGUMENT,
                           "operation %d; there are UNDERCROFT_READ and UNDERCROFT_WRITE", operation);
    alone_memory_misfit(((const struct memory *)memory->model)->alone, operation == UNDERCROFT_WRITE, address,
                        bytes, &err);
    return handle_fail_with(error, UNDERCROFT_ARGUMENT, &err);
}

/* What a simulator calls for each request: no more is done here than it takes. */
int undercroft_memory_request(struct undercroft *memory, int operation, uint64_t address, uint64_t bytes,
                              uint64_t tag, struct undercroft_error *error)
{
    if (!handle_is(memory, &kind) || (operation != UNDERCROFT_READ && operation != UNDERCROFT_WRITE))
        return refuse(memory, operation, address, bytes, error);
    memory->inside++; /* lack of room may wake a client at once */
    const enum alone_offer offer = alone_memory_offer(((const struct memory *)memory->model)->intake,
                                                      operation == UNDERCROFT_WRITE, address, bytes, tag);
    memory->inside--;
    if (offer == ALONE_MISFIT)
        return refuse(memory, operation, address, bytes, error);
    (void)handle_fine(error);
    return offer == ALONE_TAKEN ? UNDERCROFT_OK : UNDERCROFT_FULL;
}

int undercroft_memory_size(const struct undercroft *memory, uint64_t *bytes, struct undercroft_error *error)
{
    const int status = handle_check(memory, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!bytes)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`bytes` is NULL");
    *bytes = dram_config_bytes(config_of(memory->model));
    return UNDERCROFT_OK;
}

int undercroft_memory_outstanding(const struct undercroft *memory, uint64_t *count,
                                  struct undercroft_error *error)
{
    const int status = handle_check(memory, &kind, error);
    if (status != UNDERCROFT_OK)
        return status;
    if (!count)
        return handle_fail(error, UNDERCROFT_ARGUMENT, "`count` is NULL");
    *count = alone_memory_outstanding(((const struct memory *)memory->model)->alone);
    return UNDERCROFT_OK;
}
