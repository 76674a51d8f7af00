/* Parts: the components of a machine. A kind of part is described by a descriptor, struct part_kind.
 *
 * A machine is a tree of parts. A kind's descriptor is in the folder of the part (emu/mem/cache/kind.c,
 * emu/dram/kind.c ...). emu/machine/kinds.c lists all kinds, one line each. A new mechanism is a folder
 * with a kind, and a line there.
 *
 * How a new mechanism connects to the others, from its own folder:
 * - instructions: rows in its folder (isa/custom.def), for harts and for warps; units() serves them;
 * - tasks taken from a core: the offload interface (emu/core/offload.h); environments of programs see the accelerators by
 *   `tasks` (emu/core/tasks.h);
 * - requests: ports of type "memory"; the description says between which parts a stash, a router or a link
 *   stands; a kind whose output depends on the address is `routed`;
 * - where an address lives: homes (emu/mem/home.h), which can change at run time;
 * - bytes that are not in plain memory: a holder (emu/mem/phys/bytes.h);
 * - command slots of DRAM: an agent of the channel (emu/dram/controller/agent.h);
 * - states of lines: a table of transitions (emu/mem/protocol.h);
 * - what the machine's other parts and the program are, and when the run ends: hooks (emu/schema/assembly.h).
 * Lines that change outside that folder: one in emu/machine/kinds.c, the room's row in README.md, and, for a
 * part inside another part, such as a core's cache, a role in the kind of the outer part
 * (emu/core/config/kind.c).
 *
 * Fields. A kind's configuration is a plain struct. Each field is one row of a .def file next to the struct,
 * the only place that states its name, type, unit, range, default, meaning and source. The rows generate the
 * members of the struct (fields_struct.h), the descriptor's table (fields_rows.h), the keys of machine
 * descriptions, their checks and messages, and the output of `croft show`. The value `auto` stands for the
 * row's default or, if the row has none, for the value that derive() computes from the other fields.
 *
 * Passes. A description is parsed, its parts are counted, their fields are set and derived, and each part is
 * checked (emu/schema). Then each part is made without its neighbours, in its reset state, and the ports are
 * connected (emu/machine/builder.h). Parts are freed in the reverse order of their making, also if a pass
 * fails. Parts are not asked to quiesce: the scheduler stops the harts, and a range of addresses is quiet
 * when its homes count no outstanding request (emu/mem/home.h). Descriptors are read while a machine is built
 * and when it publishes its statistics. In simulated time, parts call each other through pointers that
 * connect() has stored.
 *
 * Numbers. Components (the order of events at one time), harts and requesters are numbered in the order of
 * making: by kind, in the order of the list of kinds, then by name for names that a description defines, then
 * by index. A core's caches and TLBs come directly before it. The order of keys in a file has no influence.
 *
 * Ports. A port has a type and either serves requests or sends them. A client's port is connected to a
 * server's port of the same type. `extension` lets a room above sim (README.md) extend the descriptor
 * (emu/dev/device.h: bus, interrupt and device tree). */
#ifndef EMU_SIM_PART_H
#define EMU_SIM_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/sim/clock.h"
#include "emu/sim/error.h"
#include "emu/sim/event.h"
#include "emu/sim/report/energy.h"
#include "emu/sim/report/stats.h"
#include "emu/sim/text/quantity.h"

/* The types of numbers come first; their values equal those of enum quantity. */
enum field_type {
    FIELD_COUNT = QUANTITY_COUNT,
    FIELD_ADDRESS = QUANTITY_ADDRESS,
    FIELD_SIZE = QUANTITY_SIZE,
    FIELD_TIME = QUANTITY_TIME,
    FIELD_FREQUENCY = QUANTITY_FREQUENCY,
    FIELD_BANDWIDTH = QUANTITY_BANDWIDTH,
    FIELD_ENERGY = QUANTITY_ENERGY,
    FIELD_POWER = QUANTITY_POWER,
    FIELD_BOOL = QUANTITY_KINDS,
    FIELD_CHOICE,
    FIELD_TEXT,
};

enum { PART_VARIANTS = 2 }; /* variants of a kind, such as in order and out of order */

struct part_field {
    const char *name; /* dotted within the part: "predict.btb" */
    enum field_type type;
    uint32_t offset, size;        /* of the member in the configuration struct */
    const char *min, *max, *step; /* range of a number, in a user's notation */
    const char *const *choices;   /* FIELD_CHOICE: names by value, then NULL */
    /* default by variant, in a user's notation; NULL: derive() computes it */
    const char *initial[PART_VARIANTS];
    unsigned variants; /* bits of the variants that use the field; 0: all */
    const char *explanation;
    const char *source[PART_VARIANTS]; /* source of each default; "" if the default is not a figure */
};

/* A section of fields: those whose names have the same prefix. */
struct part_section {
    const char *prefix; /* "predict" */
    const char *explanation;
};

struct part_kind;

/* A default that a part's role in its parent overrides. */
struct part_default {
    const char *field;
    /* In a user's notation; "@PATH" copies the field PATH, relative to the parent. For a port: its partners
     * (struct part_port); "": the parent connects it. */
    const char *value;
    const char *source; /* as in struct part_field */
};

enum part_presence {
    PART_ALWAYS,
    PART_REMOVABLE, /* present unless the description says `none` */
    PART_TIMED,     /* as PART_REMOVABLE, but only in machines with timed cores */
    PART_OPTIONAL,  /* present if the description mentions it */
};

/* A child that a kind's parts can have, under a fixed name. */
struct part_role {
    const char *name;
    const struct part_kind *kind;
    enum part_presence presence;
    bool many;                  /* copies numbered from 0, by the key `count`; false: one, without a number */
    const char *initial, *most; /* default and maximum of that key */
    const char *limit;          /* explanation of the maximum, for messages: "the stacks of ..."; or NULL */
    const char *counts;         /* explanation of that key */
    const char *explanation;    /* explanation of the role */
    const struct part_default *defaults; /* ends with a NULL field; or NULL */
    /* For drawings, if the parent is `whole` and connects the part: the roles that it can send its requests to, separated
     * by spaces. It sends them to the first that is present, or else through the parent's port. NULL: not drawn. */
    const char *leads;
};

enum part_direction { PART_SERVES, PART_ASKS };

/* A port. Descriptions refer to ports by name: `memory: crossbar`. */
struct part_port {
    const char *name;
    const char *type; /* "memory"; only ports of the same type can be connected */
    enum part_direction direction;
    bool many;     /* takes several partners, numbered in the order of connection */
    bool optional; /* may stay unconnected */
    bool spreads;  /* PART_ASKS: a connection takes a slot for each of its server's channels() */
    /* PART_ASKS: names to try if the description names no partner, first among the part's siblings, then
     * among its parent's siblings, and so on: "crossbar dram" */
    const char *partners;
    const char *explanation;
};

/* One end of a connection: the operations of the port's type and the object to call them on. */
struct part_end {
    const void *ops;
    void *object;
};

struct assembly_hooks;
struct track_sink;
struct custom_units;

/* The next free numbers, from 0 in the order of making. */
struct part_numbers {
    uint32_t component; /* component number of events */
    uint32_t requester; /* number of a requester of memory: harts first; at most PART_REQUESTERS */
};

enum { PART_REQUESTERS = 65536 };

/* A part below another part, as the description gives it. */
struct part_child {
    const char *name; /* within the other part: "w1", or "w.3" if it has copies */
    const struct part_kind *kind;
    const void *config;
    const bool *given; /* given[field]: the description sets the field */
};

/* Queues for the pieces of a part that can be divided, such as a network. */
struct part_pieces {
    struct event_queue *queues;
    unsigned count;
    const uint32_t *of; /* by number of the smallest piece (a router): number of its queue */
};

/* The construction parameters of a part. Only *name, *queue, *clock and what `place` points to outlive
 * make(). */
struct part_site {
    const char *name; /* dotted: "accel.3.l1d" */
    struct event_queue *queue;
    const struct part_pieces *pieces; /* NULL: the part is in one piece */
    struct clock *clock;              /* the part's own clock, which it sets */
    struct part_numbers *numbers;     /* part_component() and part_requester() take from these */
    /* configurations of the parts in the kind's roles, by role; NULL: there is none */
    const void *const *below;
    /* the parts below it whose names the description chooses; only for kinds that are `open` */
    const struct part_child *children;
    size_t child_count;
    /* further parameters, defined by the part's room: struct mem_site (emu/mem/site.h) ...; or NULL */
    const void *place;
};

static inline uint32_t part_component(const struct part_site *site)
{
    return site->numbers->component++;
}

static inline uint16_t part_requester(const struct part_site *site)
{
    return (uint16_t)site->numbers->requester++;
}

struct part_kind {
    const char *name; /* "cache" */
    const char *explanation;
    size_t config_size;
    const struct part_field *fields;
    size_t field_count;
    const struct part_section *sections; /* ends with a NULL prefix; or NULL */
    const struct part_role *roles;       /* ends with a NULL name; or NULL */
    const struct part_port *ports;       /* ends with a NULL name; or NULL */
    /* names of the fields that machines without a clock use, separated by spaces; NULL: all */
    const char *functional;
    bool open;   /* a description may add parts of any kind, under its own names */
    bool whole;  /* make() also makes the parts in its roles */
    bool routed; /* its output depends on the home of an address: make() gets the routes (struct mem_site) */
    const char *const *variants; /* names of the variants, for messages: "core inorder"; NULL: no variants */
    const void *extension;       /* extension by a room above: emu/dev/device.h; or NULL */
    const void *tasks;           /* for accelerators of programs' tasks: emu/core/tasks.h; or NULL */
    const struct assembly_hooks *hooks; /* emu/schema/assembly.h; or NULL */

    /* Returns the variant of a configuration. NULL: always 0. */
    unsigned (*variant)(const void *config);
    /* Turns a configuration into one of the variant. NULL: there is only one variant. */
    void (*choose)(void *config, unsigned variant);
    /* Sets the fields without a default, and fits fields that the user did not set to those set; given[i]: field i was
     * set. NULL: all fields have defaults. */
    void (*derive)(void *config, const bool given[]);
    /* Sets the defaults that differ from copy to copy, such as addresses; copies are numbered from 0, given[i] is as for
     * derive(). NULL: there are none. */
    void (*number)(void *config, unsigned index, const bool given[]);
    /* Writes the source of a value that derive() computed. NULL: use the field's own source. */
    void (*note)(const void *config, const struct part_field *field, char *buffer, size_t size);
    /* Checks constraints between fields; each field is already within its range. The message begins with a field's name
     * and ": ", or names several fields. NULL: no constraints. */
    bool (*check)(const void *config, struct error *err);

    /* The slots that a connection takes at the server: one for each end by which the part asks, such as a slice. `below`
     * as in struct part_site. NULL: 1. */
    unsigned (*ends)(const void *config, const void *const *below);
    /* The slots that a connection takes at a client's port that spreads: one for each controller of a memory. NULL: 1. */
    unsigned (*channels)(const void *config);

    /* Prints the bits that the mechanism's tables take in a machine with these parts, for `croft candidates --storage`.
     * False with err set if the machine lacks the mechanism. NULL: they are not counted. */
    bool (*print_storage)(const char *machine, const struct part_child *parts, size_t count,
                          struct error *err);

    /* The part in simulated time. A kind without make() has no such part, or only in roles of kinds that are
     * `whole`. */

    /* Makes a part, not yet connected. Returns NULL with err set on failure. */
    void *(*make)(const void *config, const struct part_site *site, struct error *err);
    void (*free)(void *part);
    /* Returns the end of a serving port for the client with that slot. */
    struct part_end (*serve)(void *part, unsigned port, unsigned slot);
    /* Connects an asking port to its server. */
    void (*connect)(void *part, unsigned port, unsigned slot, const struct part_end *server);
    /* Enters the units of the custom instructions that the part serves in a table (emu/hart/custom.h), in
     * which harts and warps look them up. NULL: the part serves none. Called once, when the parts are
     * connected. */
    void (*units)(void *part, struct custom_units *units);
    /* Registers statistics and energy accounts. */
    void (*publish)(void *part, struct stats *stats, struct scope scope);
    void (*energy)(void *part, struct energy_ledger *ledger, struct scope scope);
    /* Shows the part on tracks of a trace. NULL: the part shows nothing. */
    void (*observe)(void *part, struct track_sink *sink, const char *name);
    /* Called when the machine restarts, with its harts stopped: resets the part's state. NULL: nothing to
     * reset. */
    void (*reset)(void *part);
    /* Brings statistics up to date at a time. NULL: they always are. */
    void (*sync)(void *part, uint64_t now);
};

/* Sets *config to the defaults of a variant (0 for kinds without variants). */
void part_defaults(const struct part_kind *kind, unsigned variant, void *config);

/* For derive(): copies from *from each field that is not given and has no default in the variant. */
void part_take(const struct part_kind *kind, unsigned variant, void *config, const void *from,
               const bool given[]);

/* The rows of a kind's descriptor about its configuration, whose fields are in the table `fields`. */
#define PART_CONFIG(type)                                                                                    \
    .config_size = sizeof(type), .fields = fields, .field_count = sizeof fields / sizeof *fields

/* Defines publish(), energy() and observe() of a kind by functions of its part: NAME_publish(), NAME_energy(), NAME_track(). */
#define PART_REPORTS(name)                                                                                   \
    static void publish(void *part, struct stats *stats, struct scope scope)                                 \
    {                                                                                                        \
        name##_publish(part, stats, scope);                                                                  \
    }                                                                                                        \
    static void energy(void *part, struct energy_ledger *ledger, struct scope scope)                         \
    {                                                                                                        \
        name##_energy(part, ledger, scope);                                                                  \
    }                                                                                                        \
    static void observe(void *part, struct track_sink *sink, const char *who)                                \
    {                                                                                                        \
        name##_track(part, sink, who);                                                                       \
    }

/* Checks the range of each field, then calls the kind's check(). Messages have the form that check() requires. */
bool part_check(const struct part_kind *kind, const void *config, struct error *err);

/* Returns the index of the field, or -1. */
int part_field_find(const struct part_kind *kind, const char *name);

/* Returns whether the configuration's variant uses the field. */
bool part_field_used(const struct part_kind *kind, const struct part_field *field, const void *config);
unsigned part_variant(const struct part_kind *kind, const void *config);

/* Read and write a number, boolean or choice as a number; not for FIELD_TEXT. */
uint64_t field_number(const struct part_field *field, const void *config);
void field_put(const struct part_field *field, void *config, uint64_t value);

/* Parses, checks and stores a text; not for "auto". The message begins with the field's name. */
bool field_set(const struct part_field *field, void *config, const char *text, struct error *err);

/* Writes the value in the notation of descriptions. */
enum { FIELD_VALUE = 600 };
void field_format(const struct part_field *field, const void *config, char buffer[FIELD_VALUE]);

/* Returns whether `auto` derives the field; false for a text with a default, for which it is an ordinary value. */
static inline bool field_has_auto(const struct part_field *field)
{
    return field->type != FIELD_TEXT || !field->initial[0];
}

/* Writes the allowed values in words: "4 KiB to 1 TiB, a multiple of 4 KiB", "true or false". */
void field_allowed(const struct part_field *field, char *buffer, size_t size);

#endif
