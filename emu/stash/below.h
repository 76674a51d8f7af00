/* What a stash asks of the level below, and what that level tells and asks the stash. The coherence unit (DeNovo) takes the
 * place of below (unit.h); in a machine without one, port.h does.
 *
 * Lines are physical addresses of lines, aligned. Bit w of a mask is the line's word w of 4 bytes. `map` is the entry of the
 * stash-map with which words are asked for or registered. `now` may be ahead of the event queue's time; what is sent leaves
 * then. */
#ifndef EMU_STASH_BELOW_H
#define EMU_STASH_BELOW_H

#include <stdbool.h>
#include <stdint.h>

/* The states of words as the unit sees them (coherence: DeNovo). */
enum stash_state { STASH_INVALID, STASH_VALID, STASH_REGISTERED };

struct stash_below_ops {
    /* Each returns false if it is full or has to wait for words of its own; then it has changed nothing, and calls
     * stash_room() later. */

    /* Asks for the words in `need`; the answer may bring those in `fill` too. */
    bool (*read)(void *below, uint64_t line, unsigned map, uint64_t need, uint64_t fill, uint64_t now);
    /* Registers words that the stash holds as REGISTERED from now on. */
    bool (*enroll)(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
    /* Tells the registry that registered words, of which none is pending, have another map now. They are pending until it
     * knows. */
    bool (*remap)(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now);
    /* Takes registered words, of which none is pending, to write them back. The stash no longer has them. */
    bool (*write_back)(void *below, uint64_t line, unsigned map, uint64_t mask, uint64_t now);

    /* Returns the words whose registration is not acknowledged yet. If there are some, the stash may wait, and stash_room() or
     * stash_acknowledged() is called when there are fewer. */
    uint64_t (*pending)(void *below, uint64_t line);
    /* Open reads deliver their words, but install nothing. */
    void (*acquire)(void *below, uint64_t now);
    /* Returns whether no registration is under way. */
    bool (*settled)(const void *below);
};

#endif
