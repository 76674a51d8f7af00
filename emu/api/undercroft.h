/* Undercroft's models for other simulators: a memory timed to the DRAM command, a packet network, and whole machines.
 *
 * Times are femtoseconds of simulated time (uint64_t, five hours). A model does nothing but in calls of this header: each
 * belongs to one thread at a time, and models know nothing of each other. Nothing is printed, nothing ends the process (but
 * for lack of memory), and there is no global state.
 *
 * Functions return an enum undercroft_status, UNDERCROFT_OK (0) on success. The last argument receives the message of a
 * failure, and may be NULL. A handle that is NULL, freed or of the wrong kind is an error, as
 * are calls that a callback must not make: only those marked [C] may be made from a callback of the same model.
 *
 * pkg-config: undercroft. The page emu/api/README.md has examples. */
#ifndef UNDERCROFT_H
#define UNDERCROFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define UNDERCROFT_VERSION 1
#define UNDERCROFT_FOREVER UINT64_MAX

enum undercroft_status {
    UNDERCROFT_OK = 0,
    UNDERCROFT_FULL = 1, /* no error: the request or packet is not taken now; try later, or after room() */
    UNDERCROFT_ARGUMENT = -1,    /* an argument is NULL or out of range */
    UNDERCROFT_HANDLE = -2,      /* no handle, a freed one, or one of another kind of model */
    UNDERCROFT_DESCRIPTION = -3, /* the message names file (or text), line and key */
    UNDERCROFT_TIME = -4,        /* time would run backwards */
    UNDERCROFT_CALLBACK = -5,    /* a callback must not make this call */
    UNDERCROFT_NAME = -6,        /* no statistic of that name */
    UNDERCROFT_PROGRAM = -7      /* the program cannot be loaded or run */
};

enum { UNDERCROFT_TEXT = 1024 };

struct undercroft_error {
    int32_t status; /* enum undercroft_status */
    char text[UNDERCROFT_TEXT];
};

/* A model: a memory, a network or a machine. */
struct undercroft;

/* A description, in the YAML of machines. Set `size` to sizeof(struct undercroft_source), the rest to 0 what is not used. */
struct undercroft_source {
    size_t size;
    /* Path of a description; or, of a memory, a standard ("hbm1"); of a machine, a shipped one. */
    const char *file;
    const char *text;        /* the description itself, instead of `file` */
    const char *const *sets; /* "NAME=VALUE" each, as --set takes them */
    size_t set_count;
};

/* Returns the version of the library: UNDERCROFT_VERSION of its header. [C] */
uint32_t undercroft_version(void);

/* Frees a model of any kind. NULL is allowed. Of each freed model some 50 bytes stay, by which later calls with its handle are
 * told from those with another one. */
int undercroft_free(struct undercroft *model, struct undercroft_error *error);

/* Time. *now is the present; *next is the time of the next event, UNDERCROFT_FOREVER if nothing is under way. [C] */
int undercroft_now(const struct undercroft *model, uint64_t *now, struct undercroft_error *error);
int undercroft_next(struct undercroft *model, uint64_t *next, struct undercroft_error *error);

/* Sets *period to that of the model's clock: of a memory tCK, of a network that of its flits, of a machine that of its first
 * host; 0 if it has no clock. [C] */
int undercroft_period(const struct undercroft *model, uint64_t *period, struct undercroft_error *error);

/* Runs to a time, which then is the present. UNDERCROFT_FOREVER: until nothing is under way. */
int undercroft_run(struct undercroft *model, uint64_t until, struct undercroft_error *error);

/* Runs one period of the model's clock. */
int undercroft_tick(struct undercroft *model, struct undercroft_error *error);

/* Runs the next event, if there is one. */
int undercroft_step(struct undercroft *model, struct undercroft_error *error);

/* Statistics have the names of croft run --stats ("dram.reads"); of a mean of nothing the value is NaN. [C] */
struct undercroft_statistic {
    const char *name, *unit, *meaning; /* valid until the model is freed */
    double value;
    uint64_t count; /* the exact value, unless it is a mean or a rate */
    int32_t is_real;
};
int undercroft_statistic(struct undercroft *model, const char *name, struct undercroft_statistic *statistic,
                         struct undercroft_error *error);

/* Calls each() with every statistic, until it returns another value than 0. [C] */
int undercroft_statistics(struct undercroft *model,
                          int (*each)(void *context, const struct undercroft_statistic *statistic),
                          void *context, struct undercroft_error *error);

/* A memory. Callbacks, each of which may be NULL but for `answer`. */
struct undercroft_memory_client {
    size_t size; /* sizeof(struct undercroft_memory_client) */
    void *context;
    /* The request of that tag is done at `now`: of a read, its last data have arrived; a write is accepted. */
    void (*answer)(void *context, uint64_t tag, uint64_t now);
    /* After UNDERCROFT_FULL: there may be room again. */
    void (*room)(void *context, uint64_t now);
};

int undercroft_memory_new(struct undercroft **memory, const struct undercroft_source *source,
                          const struct undercroft_memory_client *client, struct undercroft_error *error);

enum undercroft_operation { UNDERCROFT_READ = 0, UNDERCROFT_WRITE = 1 };

/* Offers a request at the present time, for bytes from address 0 on. Its tag is handed back with the answer. [C] */
int undercroft_memory_request(struct undercroft *memory, int operation, uint64_t address, uint64_t bytes,
                              uint64_t tag, struct undercroft_error *error);

/* Set *bytes to the size of the memory; *count to the requests that are not answered yet. [C] */
int undercroft_memory_size(const struct undercroft *memory, uint64_t *bytes, struct undercroft_error *error);
int undercroft_memory_outstanding(const struct undercroft *memory, uint64_t *count,
                                  struct undercroft_error *error);

/* A network. */
struct undercroft_packet {
    uint64_t tag;
    uint32_t source, destination; /* nodes */
    uint32_t flits;
    uint32_t message_class; /* below the description's `classes` */
};

struct undercroft_network_client {
    size_t size; /* sizeof(struct undercroft_network_client) */
    void *context;
    /* A packet has arrived whole. Another value than 0 refuses it: it stays in the network, with what is behind it, until
     * undercroft_network_unblock(). */
    int (*deliver)(void *context, const struct undercroft_packet *packet, uint64_t now);
    /* After UNDERCROFT_FULL: the source has room again for packets of that class. May be NULL. */
    void (*room)(void *context, uint32_t node, uint32_t message_class, uint64_t now);
};

/* Makes a network for packets of up to `flits` flits. The part `traffic` of croft net's descriptions is not used. */
int undercroft_network_new(struct undercroft **network, const struct undercroft_source *source,
                           uint32_t flits, const struct undercroft_network_client *client,
                           struct undercroft_error *error);

/* Sends a packet at the present time. [C] */
int undercroft_network_send(struct undercroft *network, const struct undercroft_packet *packet,
                            struct undercroft_error *error);

/* Tells that there is room again for packets of a class at a node, after deliver() has refused one. [C] */
int undercroft_network_unblock(struct undercroft *network, uint32_t node, uint32_t message_class,
                               struct undercroft_error *error);

/* Sets *nodes to the number of nodes. [C] */
int undercroft_network_nodes(const struct undercroft *network, uint32_t *nodes,
                             struct undercroft_error *error);

/* A machine with a program of croft cc, in the environment of croft run --env user. All pointers but `program` may be NULL. */
struct undercroft_program {
    size_t size;                  /* sizeof(struct undercroft_program) */
    const char *program;          /* ELF file */
    const char *const *arguments; /* behind the program's name */
    size_t argument_count;
    const char *directory; /* the only folder whose files the program can open; NULL: the present one */
    const char *input, *output, *errors; /* files of its standard streams; NULL: nothing */
    const char *share; /* croft's files (share/croft); NULL: those beside the library's folder */
};

/* Makes a machine and loads the program. undercroft_run() and undercroft_tick() let time pass until the program ends; a machine
 * without a clock takes 1 ns for an instruction. undercroft_step() executes about one instruction. */
int undercroft_machine_new(struct undercroft **machine, const struct undercroft_source *source,
                           const struct undercroft_program *program, struct undercroft_error *error);

/* Runs until its hosts have executed about that many instructions more, or the program ends. */
int undercroft_machine_run(struct undercroft *machine, uint64_t instructions, struct undercroft_error *error);

/* Where a machine is. [C] */
struct undercroft_machine_state {
    int32_t ended;         /* the program has ended, with this status */
    int32_t status;        /* as croft run's */
    uint32_t harts;        /* hosts; then accelerators */
    uint64_t instructions; /* executed by all harts */
    /* What croft run would have printed on standard error; valid until the machine runs again. */
    const char *messages;
};
int undercroft_machine_state(struct undercroft *machine, struct undercroft_machine_state *state,
                             struct undercroft_error *error);

/* Reads a register of a hart: x0 to x31 are 0 to 31, pc is 32, f0 to f31 are 33 to 64. [C] */
enum { UNDERCROFT_PC = 32, UNDERCROFT_F0 = 33, UNDERCROFT_REGISTERS = 65 };
int undercroft_machine_register(const struct undercroft *machine, uint32_t hart, uint32_t number,
                                uint64_t *value, struct undercroft_error *error);

/* Reads or writes bytes of the machine's memory, without time. [C] */
int undercroft_machine_read(const struct undercroft *machine, uint64_t address, void *to, uint64_t bytes,
                            struct undercroft_error *error);
int undercroft_machine_write(struct undercroft *machine, uint64_t address, const void *from, uint64_t bytes,
                             struct undercroft_error *error);

#ifdef __cplusplus
}
#endif

#endif
