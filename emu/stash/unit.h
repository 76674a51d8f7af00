/* A DeNovo unit (emu/mem/denovo.h) as the level below a stash (below.h), and the stash as the unit's holder. */
#ifndef EMU_STASH_UNIT_H
#define EMU_STASH_UNIT_H

#include "emu/mem/coherence/word_versions.h"
#include "emu/mem/denovo_domain.h"
#include "emu/stash/hardware.h"

struct stash_unit;
struct stash_port_counters;

extern const struct stash_below_ops stash_unit_ops;
/* What the stash does as a holder, which is a struct stash_unit. Checkers may put functions of their own in front. */
extern const struct denovo_holder_ops stash_holder_ops;

/* Makes a unit for a stash and connects it. `ops`: stash_holder_ops, or what calls them. */
struct stash_unit *stash_unit_new(const struct denovo_unit_config *config,
                                  const struct denovo_holder_ops *ops, struct stash *stash,
                                  struct denovo_post post);
void stash_unit_free(struct stash_unit *unit);

/* Makes one that is a member of a domain, at a place. A forward is answered `look_up` fs after it has arrived. */
struct stash_unit *stash_unit_join(const struct stash_config *config, struct stash *stash,
                                   struct denovo_domain *domain, const struct denovo_place *place,
                                   uint64_t look_up);
/* Makes loads be checked, as the agent's; core.c notes stores. stash_unit_loads() tells the pc of the access that loads words of a line. */
void stash_unit_check(struct stash_unit *unit, struct word_versions *versions, unsigned agent);
void stash_unit_loads(struct stash_unit *unit, uint64_t line, unsigned map, uint64_t pc);
/* Returns what the unit has been asked to do. */
const struct stash_port_counters *stash_unit_counted(const struct stash_unit *unit);
/* The unit takes messages by denovo_receive(). */
struct denovo_unit *stash_unit_of(const struct stash_unit *unit);

#endif
