/* Offloading by nucd on a machine: accelerators with firmware, which execute tasks, and offload engines of
 * hosts, which send them. It is created before the harts run, and gets a clock when the timed machine is
 * built around it. Without accelerators that take tasks it is NULL; functions that accept NULL then do
 * nothing, or answer for such a machine. */
#ifndef EMU_NUCD_NUCD_H
#define EMU_NUCD_NUCD_H

#include "emu/core/services.h"
#include "emu/core/tasks.h"
#include "emu/nucd/description.h"
#include "emu/nucd/engine/engines.h"
#include "emu/nucd/units/accelerators.h"

struct nucd;

/* Creates units, loads the firmware, and sets the last nucd_count() harts to start in it. Returns NULL when
 * nucd_count() is 0, with *err not set, or on failure, with *err set; the message names the file or the key.
 * Everything passed must outlive the result, except `done`. Release the result with nucd_free(), after the
 * machine and its harts; nucd_free() accepts NULL. */
struct nucd *nucd_new(const struct tasks_options *options, struct error *err);
void nucd_free(struct nucd *nucd);

/* Loads the firmware again and restarts units and harts, after harts and memory have been reset. Accepts
 * NULL. */
bool nucd_restart(struct nucd *nucd, struct error *err);

/* Makes memory below `first` read-only for tasks: accelerators_protect(). Accepts NULL. */
void nucd_protect(struct nucd *nucd, uint64_t first);

/* Sets the physical address of the kernel's table of ranges. Accepts NULL. */
void nucd_set_ranges(struct nucd *nucd, uint64_t table);

/* Returns whether the hart of a host, or a multiprocessor, has stopped for a fault in a region, and stores
 * the accelerator and the pc of the fault. Accepts NULL. */
bool nucd_fault(const struct nucd *nucd, const struct hart *hart, unsigned *accelerator, uint64_t *pc);

/* Returns whether squashed tasks of the host's hart that were sent have not been reached again. Accepts NULL. */
bool nucd_keeps(const struct nucd *nucd, const struct hart *hart);

/* Returns whether a fault in a region is an access to the firmware's memory below the stack of the accelerator's
 * tasks, as a stack overflow causes. If so, it writes a message to `text`. Accepts NULL. */
enum { NUCD_OVERFLOW_TEXT = 256 };
bool nucd_overflow(const struct nucd *nucd, unsigned accelerator, const struct trap *trap,
                   char text[NUCD_OVERFLOW_TEXT]);

/* Fills in *region for the accelerator that nucd_fault() has named, and answers its call: see accelerators.h. The first
 * accepts NULL. */
bool nucd_stopped_region(const struct nucd *nucd, unsigned accelerator, struct tasks_region *region);
void nucd_answer_call(struct nucd *nucd, unsigned accelerator, uint64_t result);

/* As in struct tasks_ops. */
bool nucd_caller(const struct nucd *nucd, unsigned accelerator, struct tasks_caller *caller);

/* Returns the accelerators. */
struct accelerators *nucd_accelerators(const struct nucd *nucd);

/* The following functions are for the timed machine. All except nucd_hosts(), nucd_check() and
 * nucd_check_allow() accept NULL. Cores are numbered like harts. */

/* Returns the number of the hosts' harts. Does not accept NULL. */
unsigned nucd_hosts(const struct nucd *nucd);

/* Returns whether the caches are coherent about tasks. False with err set: not in mode `ideal`. Accepts NULL. */
bool nucd_coherent(const struct nucd *nucd, struct error *err);

/* Provides the clock, before the cores are created. *machine is copied; what it points to must be valid until
 * nucd_stop_clock(). Call nucd_stop_clock() when no more events will fire, and before the cores and their
 * harts are freed. */
void nucd_start_clock(struct nucd *nucd, const struct core_services *machine);
void nucd_stop_clock(struct nucd *nucd);

/* Parameters for creating a core. nucd_near() returns the devices that the core reaches by a path of its own.
 * nucd_make_engine() creates the engine of a host that offloads (engines_make()); nucd_attach_engine()
 * connects it to the core when that has been created. */
struct core_near nucd_near(const struct nucd *nucd, unsigned core);
bool nucd_make_engine(struct nucd *nucd, const struct nucd_core *core, struct core_offload *offload,
                      struct error *err);
void nucd_attach_engine(struct nucd *nucd, unsigned number, struct core *core);

/* Returns whether some host has an engine. */
bool nucd_offloads(const struct nucd *nucd);

/* Creates the engine of a multiprocessor (engines_add()); call it when all cores exist. nucd_serve() lets the
 * multiprocessors' threads offload, when all of these exist. */
bool nucd_add_multiprocessor(struct nucd *nucd, const struct nucd_multiprocessor *multiprocessor,
                             struct error *err);
void nucd_serve(struct nucd *nucd, struct custom_units *units);

/* Connects a core with its hart's task unit; call it for each core when all cores exist. Wakes an
 * accelerator's core if its host is not privileged, because then no system wakes it. */
void nucd_attach(struct nucd *nucd, unsigned number, struct core *core);

/* Handles the stop of a core's hart at `now` (fs). Returns true if the stop was for its task unit: the hart
 * continues. */
bool nucd_stopped(struct nucd *nucd, unsigned core, enum hart_stop stop, uint64_t now);

/* Handles a FENCE.I that has retired on a core. A host's FENCE.I applies to accelerators too. */
void nucd_code_changed(struct nucd *nucd, unsigned core);

/* Implement --check nucd (task_check.h): nucd_check() starts checking; nucd_check_allow() adds a segment of
 * the program that it cannot write; nucd_check_summary() prints the findings at the end and returns whether
 * there were any. */
void nucd_check(struct nucd *nucd);
void nucd_check_allow(struct nucd *nucd, uint64_t first, uint64_t last);
bool nucd_check_summary(const struct nucd *nucd);

/* Shows tasks on tracks of a trace (task_track.h), or writes a table of them (task_table.h), as the sink takes
 * it. Call it when all cores are attached. Closing the trace before nucd_stop_clock() writes the rest. */
void nucd_trace(struct nucd *nucd, struct track_sink *sink);

/* Register "accel.0.tasks", "nucd.offloads", "nucd.check.accesses" and so on, and add derived values. */
void nucd_publish(const struct nucd *nucd, struct stats *stats);
void nucd_add_facts(const struct nucd *nucd, struct stats *stats);

#endif
