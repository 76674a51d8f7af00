/* An offload: what a controller and an offload unit know of it. */
#ifndef EMU_TOM_TASK_H
#define EMU_TOM_TASK_H

#include "emu/mem/push.h"
#include "emu/mem/request.h"
#include "emu/simt/grid/timed_grid.h"
#include "emu/tom/mapping/analyzer.h"
#include "emu/tom/mapping/offsets.h"
#include "emu/tom/table.h"
#include "emu/tom/tom.h"

enum tom_state {
    TOM_HERE,     /* the warp executes as without TOM */
    TOM_ASKING,   /* it stands at a block, and waits for the registers of its condition */
    TOM_DECIDING, /* the controller decides */
    TOM_PROBING,  /* it executes the block up to its first access */
    TOM_SENDING,  /* it waits for its earlier instructions, then goes to the controller */
    TOM_AWAY,     /* the controller or a stack has it */
    TOM_STOPPED,  /* it waits until data have their mapping, or until it may begin an instance */
};

/* Where the next access of a block in a stack to its scratchpad is, which stays in front. */
enum tom_reach {
    TOM_NEAR,     /* there is none under way */
    TOM_REACHING, /* it is on its way to the scratchpad, or its data are on their way back */
    TOM_REACHED,  /* the warp executes it now */
};

struct tom;

/* A multiprocessor in front, with its offload controller. */
struct tom_front {
    struct tom *tom;
    struct simt *simt;
    struct cache *l1;
    struct clock clock;
    struct simt_source source; /* source of its warps, behind the controller */
    struct llc *const *slices; /* of its second level */
    uint32_t slice_count;
    bool by_line;    /* lines take turns among the slices */
    uint16_t number; /* requester number */
    uint32_t banks;  /* of its scratchpad */
    struct tom_port *port;
};

/* A warp in front that has come to a block at least once, and its offload. */
struct tom_task {
    /* The copy of the warp that finds the first access, then the warp in the stack. */
    struct simt_member guest;
    struct mem_request request; /* packet and answer */
    struct tom_task *next;      /* in the list that contains it */
    struct tom *tom;
    struct tom_front *front;
    struct simt_member *member; /* the warp in front */
    struct tom_entry *entry;
    enum tom_state state;
    uint32_t lanes; /* lanes that stand at the block */
    /* lanes that execute a block in front, and the entry of that block */
    uint32_t inside;
    struct tom_entry *inside_of;
    unsigned reason; /* enum tom_reason: why the block stayed in front */
    bool begins;     /* the warp has executed nothing since then */
    bool observed;   /* the analyzer sees what these lanes access */
    struct tom_instance instance;
    struct tom_offsets_led led;
    struct stream_op ask; /* what the warp waits for in TOM_ASKING */
    struct custom_waiter *waiter;
    struct event event;                                    /* of the controllers */
    struct event end;                                      /* of the unit: the block has ended */
    void (*answered)(struct tom_task *task, uint64_t now); /* with TOM_IDEAL: called in place of an answer */
    uint64_t places, room;           /* what it adds to these of tom_load, while it is under way */
    uint64_t work;                   /* what it adds to the work of tom_load */
    uint64_t stayed;                 /* fs: when it began a block in front; 0: not counted */
    uint64_t probed, probed_threads; /* instructions executed in TOM_PROBING */
    uint64_t address;                /* physical, of the first access */
    struct tom_unit *unit;
    bool packed;
    uint32_t unpushed; /* pushes under way */
    /* Of the first-level cache, then of each slice of the second level; a stack uses [0]. */
    struct mem_push *push;
    uint64_t *lines; /* lines to which the block has stored; sorted, each once, when the answer leaves */
    uint32_t line_count, line_room;
    enum tom_reach reach;
    struct event reach_event;
    struct custom_waiter *reach_waiter; /* of the warp in the stack */
    unsigned reach_passes;              /* of the scratchpad's banks */
    uint32_t reach_bytes;               /* of the packet with the data, or with none */
    /* fs: block taken in front, packet sent, packet in the unit, warp spawned, block ended */
    uint64_t asked, sent, arrived, begun, ended;
};

/* An offload unit takes a packet's task and answers it. The functions for the controllers: */
uint32_t tom_unit_warps(const struct tom_unit *unit); /* most warps, one per block, at a time */
/* Returns whether the unit's multiprocessor, when empty, has room for the entry's block. */
bool tom_unit_could(const struct tom_unit *unit, const struct tom_entry *entry);
/* Returns how many warps of the entry's block the unit's multiprocessor can have at a time; at least 1 if it could have one. */
uint32_t tom_unit_holds(const struct tom_unit *unit, const struct tom_entry *entry);
const struct simt_counters *tom_unit_counted(const struct tom_unit *unit);
struct cache *tom_unit_l1(const struct tom_unit *unit);
/* Tells the unit the configuration of the controllers. Call it before the first packet. */
void tom_unit_join(struct tom_unit *unit, const struct tom_config *config);

/* With TOM_IDEAL: hands over a task without a packet. answered() is called when its block has ended. */
void tom_unit_take(struct tom_unit *unit, struct tom_task *task,
                   void (*answered)(struct tom_task *task, uint64_t now), uint64_t now);

/* Offloads to a unit that are under way; the warps' places that they fill by their instructions (`alu_ratio`), and those that they
 * fill of its multiprocessor, both in parts of TOM_PLACE. `work` is the sum of the times
 * that they are expected to take as warps, in fs (`balance`). */
enum { TOM_PLACE = 1024 };
struct tom_load {
    uint32_t pending;
    uint64_t places, room;
    uint64_t work;
};

/* Returns the unit's load, which the controllers keep. */
struct tom_load *tom_unit_load(struct tom_unit *unit);

#endif
