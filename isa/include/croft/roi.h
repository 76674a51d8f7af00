/* Markers: a program marks its regions of interest for the emulator. Other machines ignore them. */
#ifndef CROFT_ROI_H
#define CROFT_ROI_H

/* The code of a marker: the immediate of `sltiu x0, rs1, code`, a HINT that every RISC-V machine ignores. */
enum croft_marker {
    CROFT_MARKER_ROI_BEGIN = 1,   /* rs1: name of the region */
    CROFT_MARKER_ROI_END = 2,     /* rs1: name of the region */
    CROFT_MARKER_STATS_RESET = 3, /* rs1: x0 */
    CROFT_MARKER_STATS_DUMP = 4,  /* rs1: x0 */
    CROFT_MARKER_TRACE_MARK = 5,  /* rs1: the text */
    CROFT_MARKER_ALLOCATION = 6,  /* rs1: address of a struct croft_allocation */
    CROFT_MARKER_FAULT = 7,       /* rs1: address of a struct croft_fault */
};

/* Emits a marker. The value is the address of a NUL-terminated string, or 0 for the default name "roi". Earlier stores
 * are in memory when it executes, and later loads follow it. */
#define CROFT_MARKER(code, value)                                                                            \
    __asm__ volatile(".insn i 0x13, 3, x0, %0, %1" : : "r"((unsigned long)(value)), "i"(code) : "memory")

/* Begins the region of interest `name` (0: "roi"). Regions may overlap; a region that is entered again accumulates. */
static inline __attribute__((always_inline)) void croft_roi_begin(const char *name)
{
    CROFT_MARKER(CROFT_MARKER_ROI_BEGIN, name);
}

/* Ends the region of interest of that name. */
static inline __attribute__((always_inline)) void croft_roi_end(const char *name)
{
    CROFT_MARKER(CROFT_MARKER_ROI_END, name);
}

/* Sets all statistics to zero. */
static inline __attribute__((always_inline)) void croft_stats_reset(void)
{
    CROFT_MARKER(CROFT_MARKER_STATS_RESET, 0);
}

/* Keeps a numbered snapshot of all statistics. */
static inline __attribute__((always_inline)) void croft_stats_dump(void)
{
    CROFT_MARKER(CROFT_MARKER_STATS_DUMP, 0);
}

/* Memory that the program has allocated; with no bytes, memory that it has freed. */
struct croft_allocation {
    unsigned long address, bytes;
};

/* Says that [address, address + bytes) was allocated, or with no bytes that it was freed: machine tom places memory by
 * such ranges. In programs compiled by `croft cc --offload`, malloc() and its kin say it. */
static inline __attribute__((always_inline)) void croft_allocated(const void *address, unsigned long bytes)
{
    const struct croft_allocation allocation = {(unsigned long)address, bytes};
    CROFT_MARKER(CROFT_MARKER_ALLOCATION, &allocation);
}

/* A trap at which a machine-mode program gives up, for CROFT_MARKER(CROFT_MARKER_FAULT, &fault). */
struct croft_fault {
    const unsigned long *x;                         /* the 32 registers at the trap; x[0] is ignored */
    unsigned long pc, machine_status, cause, value; /* mepc, mstatus, mcause, mtval */
    unsigned long exit_status;                      /* of the run, 1 to 255 */
    const char *text;                               /* what happened, for the user */
};

/* Writes `text` into the traces, at the current simulated time. */
static inline __attribute__((always_inline)) void croft_trace_mark(const char *text)
{
    CROFT_MARKER(CROFT_MARKER_TRACE_MARK, text);
}

#endif
