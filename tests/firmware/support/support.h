/* What the privileged tests share: code that is run in any mode up to its first trap, and checks of what came
 * out. */
#ifndef TESTS_FIRMWARE_SUPPORT_SUPPORT_H
#define TESTS_FIRMWARE_SUPPORT_SUPPORT_H

#include <croft/firmware/csr.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cause {
    FETCH_ACCESS = 1,
    ILLEGAL = 2,
    BREAKPOINT = 3,
    LOAD_MISALIGNED = 4,
    LOAD_ACCESS = 5,
    STORE_MISALIGNED = 6,
    STORE_ACCESS = 7,
    ECALL_U = 8,
    ECALL_S = 9,
    ECALL_M = 11,
    FETCH_PAGE = 12,
    LOAD_PAGE = 13,
    STORE_PAGE = 15,
};

#define INTERRUPT (1ul << 63)

/* An address without memory or device, on croft and on QEMU's virt board. */
#define NOWHERE 0x08000000ul

/* One run of code; attempt.S knows the layout. */
struct attempt {
    uint64_t pc;     /* where it starts */
    uint64_t status; /* mstatus for the mret that starts it: MPP is its mode */
    uint64_t vector; /* mtvec while it runs; 0: the usual handler */
    uint64_t a[5];   /* a0 to a4 at the start */

    uint64_t cause, value, epc, status_after; /* of the trap that ended it */
    uint64_t entry;     /* the entry of attempt_vectors that was used, or what is in t6 */
    uint64_t result[5]; /* a0 to a4 at the end */
};

/* Runs it in the mode in .status. */
void attempt_run(struct attempt *attempt);

extern const char attempt_vectors[], supervisor_vectors[], supervisor_trap[], supervisor_trap_end[];

/* Code for attempts; an ecall follows it. It may change what a function call may, but not sp and t6. */
#define SNIPPET(name, code)                                                                                  \
    extern const char name[];                                                                                \
    __asm__(".pushsection .text.snippets, \"ax\", @progbits\n"                                               \
            ".balign 8\n"                                                                                    \
            ".globl " #name "\n"                                                                             \
            ".type " #name ", @function\n" #name ":\n" code "\n"                                             \
            "ecall\n"                                                                                        \
            ".size " #name ", . - " #name "\n"                                                               \
            ".popsection\n")

/* mstatus as it is now, with MPP for that mode. */
uint64_t status_for(enum privilege mode);

/* Runs a snippet in a mode with a0 and a1 set. */
struct attempt attempt(enum privilege mode, const char *code, uint64_t a0, uint64_t a1);

/* The cause of the ecall that ends a snippet in that mode. */
uint64_t ecall_from(enum privilege mode);

/* Counts of a test program. Every check prints one line. */
struct suite {
    unsigned passed, failed;
};

/* got must be want. */
void expect(struct suite *suite, const char *name, uint64_t got, uint64_t want);

/* A check that other implementations may fail, or whose value is theirs to choose: its line begins with
 * "spec:" and is not compared. */
void expect_spec(struct suite *suite, const char *name, bool good);

/* The attempt must have ended in that trap, `offset` bytes behind its start. */
void expect_trap(struct suite *suite, const char *name, const struct attempt *attempt, uint64_t cause,
                 uint64_t value, uint64_t offset);

/* Whether it ended in that trap. */
bool attempt_ended(const struct attempt *attempt, uint64_t cause, uint64_t value, uint64_t offset);

/* The attempt must have reached the ecall behind its snippet, without other traps. */
void expect_end(struct suite *suite, const char *name, const struct attempt *attempt);

/* Like expect_trap() for a trap that was delegated to supervisor_trap. */
void expect_delegated(struct suite *suite, const char *name, const struct attempt *attempt, uint64_t cause,
                      uint64_t value, uint64_t offset);

/* Opens all of memory to lower modes by the last PMP entry, and clears what reset may leave undefined. */
void machine_prepare(void);

/* Prints `N passed, N failed`; returns the exit status. */
int suite_end(const struct suite *suite);

#endif
