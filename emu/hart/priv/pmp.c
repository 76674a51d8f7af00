#include "emu/hart/priv.h"

/* Returns the bytes [*first, *last] that an entry covers; false if it is off or empty. */
static bool pmp_range(const struct priv *priv, unsigned entry, uint64_t *first, uint64_t *last)
{
    uint64_t address = priv->pmpaddr[entry];
    uint64_t below = entry == 0 ? 0 : priv->pmpaddr[entry - 1];
    switch (priv->pmpcfg[entry] & PMP_A) {
    case PMP_TOR:
        *first = below << 2;
        *last = (address << 2) - 1;
        return below < address;
    case PMP_NA4:
        *first = address << 2;
        *last = *first + 3;
        return true;
    case PMP_NAPOT: {
        uint64_t mask = (address ^ (address + 1)) << 2 | 3;
        *first = (address << 2) & ~mask;
        *last = *first | mask;
        return true;
    }
    default: return false;
    }
}

bool pmp_allows(const struct priv *priv, uint64_t address, uint64_t size, unsigned kind, enum privilege mode)
{
    uint64_t end = address + size - 1;
    for (unsigned i = 0; i < PMP_ENTRIES; i++) {
        uint64_t first, last;
        if (!pmp_range(priv, i, &first, &last) || end < first || address > last)
            continue;
        /* The first entry that matches any byte decides, and must match all of them. */
        if (address < first || end > last)
            return false;
        if (mode == PRIV_M && !(priv->pmpcfg[i] & PMP_L))
            return true;
        return priv->pmpcfg[i] & kind;
    }
    return mode == PRIV_M;
}
