#include "emu/hart/mmu.h"

#include <stdlib.h>
#include <string.h>

#include "emu/hart/hart.h"
#include "emu/hart/mmu/mirror.h"
#include "emu/hart/mmu/ranges.h"

/* Page-table entry bits (privileged specification, section 4.4). */
enum { PTE_V = 1, PTE_R = 2, PTE_W = 4, PTE_X = 8, PTE_U = 16, PTE_G = 32, PTE_A = 64, PTE_D = 128 };
#define PTE_RESERVED (UINT64_C(0x3ff) << 54) /* without Svnapot and Svpbmt */
enum { PTE_PPN_SHIFT = 10, VPN_BITS = 9, PAGE_BITS = 12 };

static bool page_fault(struct hart *hart, uint64_t address, enum mmu_access access)
{
    static const enum trap_cause causes[] = {TRAP_LOAD_PAGE, TRAP_STORE_PAGE, TRAP_FETCH_PAGE};
    hart->trap = (struct trap){causes[access], address};
    return false;
}

static bool access_fault(struct hart *hart, uint64_t address, enum mmu_access access)
{
    static const enum trap_cause causes[] = {TRAP_LOAD_ACCESS, TRAP_STORE_ACCESS, TRAP_FETCH_ACCESS};
    hart->trap = (struct trap){causes[access], address};
    return false;
}

/* Returns whether a leaf allows the access. */
static bool leaf_allows(const struct hart *hart, uint64_t pte, enum mmu_access access, enum privilege mode)
{
    uint64_t status = hart->priv.mstatus;
    if (mode == PRIV_U && !(pte & PTE_U))
        return false;
    if (mode == PRIV_S && (pte & PTE_U) && (access == MMU_FETCH || !(status & MSTATUS_SUM)))
        return false;
    switch (access) {
    case MMU_FETCH: return pte & PTE_X;
    case MMU_STORE: return pte & PTE_W;
    default: return (pte & PTE_R) || ((status & MSTATUS_MXR) && (pte & PTE_X));
    }
}

/* The result of a walk: the leaf, its physical address, and the number of offset bits of its page. */
struct walk {
    uint64_t pte, at;
    unsigned bits;
};

enum walk_result { WALK_LEAF, WALK_PAGE_FAULT, WALK_ACCESS_FAULT };

/* `list` receives the entries that the walk has read. */
static enum walk_result walk_tables(const struct hart *hart, uint64_t address, unsigned levels,
                                    struct walk *walk, struct mmu_walk *list)
{
    list->count = 0;
    list->leaf = list->global = false;
    uint64_t table = (hart->priv.satp & SATP_PPN) << PAGE_BITS;
    for (unsigned level = levels; level-- > 0;) {
        unsigned bits = PAGE_BITS + level * VPN_BITS;
        uint64_t at = table + (address >> bits & 511) * 8, pte;
        const uint8_t *bytes = phys_at(hart->memory, at, 8);
        if (!bytes || !pmp_allows(&hart->priv, at, 8, PMP_R, PRIV_S))
            return WALK_ACCESS_FAULT;
        memcpy(&pte, bytes, 8);
        list->entries[list->count++] = at;
        list->global |= (pte & PTE_G) != 0;
        if (!(pte & PTE_V) || (!(pte & PTE_R) && (pte & PTE_W)) || (pte & PTE_RESERVED))
            return WALK_PAGE_FAULT;
        if (pte & (PTE_R | PTE_X)) {
            uint64_t below = ((UINT64_C(1) << (bits - PAGE_BITS)) - 1) << PTE_PPN_SHIFT;
            *walk = (struct walk){pte, at, bits};
            list->bits = bits;
            list->leaf = !(pte & below);
            return list->leaf ? WALK_LEAF : WALK_PAGE_FAULT; /* else a misaligned superpage */
        }
        if (pte & (PTE_A | PTE_D | PTE_U))
            return WALK_PAGE_FAULT;
        table = (pte >> PTE_PPN_SHIFT & SATP_PPN) << PAGE_BITS;
    }
    return WALK_PAGE_FAULT;
}

/* Returns the number of page-table levels of the mode; 0: no translation. */
static unsigned table_levels(const struct hart *hart, enum privilege mode)
{
    if (mode == PRIV_M)
        return 0;
    switch (hart->priv.satp >> SATP_MODE_SHIFT) {
    case SATP_SV39: return 3;
    case SATP_SV48: return 4;
    default: return 0;
    }
}

/* Bits 63 down to the highest translated one must be equal. */
static bool canonical(uint64_t address, unsigned levels)
{
    unsigned unused = 64 - (PAGE_BITS + levels * VPN_BITS);
    return (uint64_t)((int64_t)(address << unused) >> unused) == address;
}

/* Sets A, and D for a store; faults if that is left to software. */
static bool update_leaf(struct hart *hart, struct walk *walk, uint64_t address, enum mmu_access access)
{
    uint64_t wanted = PTE_A | (access == MMU_STORE ? PTE_D : 0);
    if ((walk->pte & wanted) == wanted)
        return true;
    if (!hart->hardware_ad)
        return page_fault(hart, address, access);
    uint8_t *bytes = phys_at(hart->memory, walk->at, 8);
    if (!pmp_allows(&hart->priv, walk->at, 8, PMP_W, PRIV_S))
        return access_fault(hart, address, access);
    walk->pte |= wanted;
    memcpy(bytes, &walk->pte, 8);
    phys_note_store(hart->memory, walk->at, 8);
    return true;
}

/* Returns the physical address of the page that the walk has found. */
static uint64_t walk_page(const struct walk *walk)
{
    return (walk->pte >> PTE_PPN_SHIFT & SATP_PPN) << PAGE_BITS & ~((UINT64_C(1) << walk->bits) - 1);
}

/* Finds the page for an access and checks it. */
static bool find_page(struct hart *hart, uint64_t address, unsigned levels, enum mmu_access access,
                      enum privilege mode, struct walk *walk)
{
    struct mmu_walk list;
    if (!canonical(address, levels))
        return page_fault(hart, address, access);
    switch (walk_tables(hart, address, levels, walk, &list)) {
    case WALK_PAGE_FAULT: return page_fault(hart, address, access);
    case WALK_ACCESS_FAULT: return access_fault(hart, address, access);
    default: break;
    }
    if (!leaf_allows(hart, walk->pte, access, mode))
        return page_fault(hart, address, access);
    return update_leaf(hart, walk, address, access);
}

bool mmu_translate(struct hart *hart, uint64_t address, enum mmu_access access, enum privilege mode,
                   uint64_t *physical)
{
    unsigned levels = table_levels(hart, mode);
    *physical = address;
    if (range_mmu_active(hart, mode))
        return range_mmu_translate(hart, address, access, physical);
    hart->page_bits = PAGE_BITS;
    if (levels == 0)
        return true;
    struct walk walk;
    if (!find_page(hart, address, levels, access, mode, &walk))
        return false;
    hart->page_bits = (uint8_t)walk.bits;
    *physical = walk_page(&walk) | (address & ((UINT64_C(1) << walk.bits) - 1));
    return true;
}

bool mmu_find_code(struct hart *hart, uint64_t address, struct mmu_leaf *leaf)
{
    enum privilege mode = (enum privilege)hart->privilege;
    struct walk walk;
    if (!find_page(hart, address, table_levels(hart, mode), MMU_FETCH, mode, &walk))
        return false;
    *leaf = (struct mmu_leaf){address >> walk.bits << walk.bits, walk_page(&walk), (uint8_t)walk.bits};
    return true;
}

bool mmu_leaf_holds(const struct hart *hart, const struct mmu_leaf *leaf, enum privilege mode)
{
    struct walk walk;
    struct mmu_walk list;
    return walk_tables(hart, leaf->address, table_levels(hart, mode), &walk, &list) == WALK_LEAF &&
           walk.bits == leaf->bits && walk_page(&walk) == leaf->physical && (walk.pte & PTE_A) &&
           leaf_allows(hart, walk.pte, MMU_FETCH, mode);
}

bool mmu_check(struct hart *hart, uint64_t address, unsigned size, enum mmu_access access,
               enum privilege mode, uint64_t *physical)
{
    static const uint8_t kinds[] = {PMP_R, PMP_W, PMP_X};
    if (!mmu_translate(hart, address, access, mode, physical))
        return false;
    if (hart->privileged && !pmp_allows(&hart->priv, *physical, size, kinds[access], mode))
        return access_fault(hart, address, access);
    return true;
}

unsigned mmu_tlb_mode(const struct hart *hart)
{
    enum privilege mode = priv_data_mode(hart);
    return mode == PRIV_S && (hart->priv.mstatus & MSTATUS_SUM) ? TLB_SUM : (unsigned)mode;
}

static void note_large(struct tlb *tlb, uint64_t address, unsigned bits)
{
    uint64_t first = address >> bits << bits, last = first | ((UINT64_C(1) << bits) - 1);
    unsigned half = (unsigned)(address >> 63);
    if (first < tlb->large[half].first)
        tlb->large[half].first = first;
    if (last > tlb->large[half].last)
        tlb->large[half].last = last;
}

void mmu_remember(struct hart *hart, uint64_t address, uint64_t physical, enum mmu_access access)
{
    uint64_t page = physical & ~(uint64_t)(MMU_PAGE - 1);
    uint8_t *bytes = phys_at(hart->memory, page, MMU_PAGE);
    enum privilege mode = priv_data_mode(hart);
    if (!bytes || !hart->tlb || page == hart->hook_page)
        return;
    if (hart->triggers.armed &&
        trigger_may_page(hart, address, access == MMU_STORE ? TRIGGER_STORE : TRIGGER_LOAD))
        return;
    if (access == MMU_STORE &&
        (phys_has_code(hart->memory, page) || (!hart->privileged && page < hart->store_base)))
        return;
    if (hart->privileged &&
        !pmp_allows(&hart->priv, page, MMU_PAGE, access == MMU_STORE ? PMP_W : PMP_R, mode))
        return;
    struct tlb *tlb = &hart->tlb[mmu_tlb_mode(hart)];
    if (hart->page_bits > PAGE_BITS)
        note_large(tlb, address, hart->page_bits);
    unsigned index = tlb_index(address);
    struct tlb_entry *entry = &(access == MMU_STORE ? tlb->store : tlb->load)[index];
    *(access == MMU_STORE ? &tlb->store_used : &tlb->load_used) |= UINT64_C(1) << index / TLB_GROUP;
    entry->tag = address & ~(uint64_t)(MMU_PAGE - 1);
    entry->addend = (uint64_t)(uintptr_t)bytes - entry->tag;
}

void mmu_leave_code(struct hart *hart, uint64_t page, unsigned end, bool first)
{
    const uint8_t *bytes = hart->memory->code->bytes + page * CODE_PAGE;
    if (!hart->tlb) {
        hart->paging_due |= bytes + end > hart->store_bytes && bytes < hart->store_bytes + hart->store_last;
        return;
    }
    hart->paging_due |= hart->mirror && hart->mirror->writers[page] > 0;
    for (unsigned mode = 0; first && mode < TLB_MODES; mode++) {
        struct tlb *tlb = &hart->tlb[mode];
        for (uint64_t used = tlb->store_used; used; used &= used - 1) {
            struct tlb_entry *entries = tlb->store + (unsigned)__builtin_ctzll(used) * TLB_GROUP;
            for (unsigned i = 0; i < TLB_GROUP; i++)
                if (entries[i].tag + entries[i].addend == (uint64_t)(uintptr_t)bytes)
                    entries[i].tag = UINT64_MAX;
        }
    }
}

/* Forgets the entries of a table that may be used. */
static void forget_table(struct tlb_entry *entries, uint64_t *used)
{
    for (; *used; *used &= *used - 1) {
        struct tlb_entry *group = entries + (unsigned)__builtin_ctzll(*used) * TLB_GROUP;
        for (unsigned i = 0; i < TLB_GROUP; i++)
            group[i].tag = UINT64_MAX;
    }
}

struct tlb *mmu_tables(void)
{
    struct tlb *tables = calloc(TLB_MODES, sizeof *tables);
    for (unsigned mode = 0; tables && mode < TLB_MODES; mode++)
        tables[mode].load_used = tables[mode].store_used = UINT64_MAX;
    return tables;
}

void mmu_flush(struct hart *hart)
{
    hart->fetch_page = UINT64_MAX;
    if (!hart->tlb)
        return;
    for (unsigned mode = 0; mode < TLB_MODES; mode++) {
        struct tlb *tlb = &hart->tlb[mode];
        forget_table(tlb->load, &tlb->load_used);
        forget_table(tlb->store, &tlb->store_used);
        for (unsigned half = 0; half < 2; half++)
            tlb->large[half].first = UINT64_MAX, tlb->large[half].last = 0;
    }
}

/* Forgets the page at an address. If it may be part of a large page, whose entries have no common index, forgets all
 * pages. */
static void forget_page(struct hart *hart, uint64_t address)
{
    unsigned half = (unsigned)(address >> 63), index = tlb_index(address);
    for (unsigned mode = 0; mode < TLB_MODES; mode++) {
        struct tlb *tlb = &hart->tlb[mode];
        if (address >= tlb->large[half].first && address <= tlb->large[half].last) {
            mmu_flush(hart);
            return;
        }
        tlb->load[index].tag = tlb->store[index].tag = UINT64_MAX;
    }
}

/* Lets blocks follow a fence. Two fences become one of everything until then. */
static void fence_code(struct hart *hart, const struct mmu_fence *fence)
{
    hart->fence = hart->stale & HART_STALE_LEAVES ? (struct mmu_fence){0} : *fence;
    hart->stale |= HART_STALE_LEAVES;
}

void mmu_fence(struct hart *hart, const struct mmu_fence *fence)
{
    uint64_t current = hart->priv.satp >> SATP_ASID_SHIFT & SATP_ASID;
    hart->fetch_page = UINT64_MAX;
    hart->paging_due |= hart->mirror && !hart->mirror->shows;
    if (hart->has_ranges) {
        mmu_flush(hart);
        hart_flush_code(hart);
        return;
    }
    /* The TLB holds translations of the current address space only. */
    if (hart->tlb && (!fence->one_space || fence->asid == current)) {
        if (fence->one_page)
            forget_page(hart, fence->address);
        else
            mmu_flush(hart);
    }
    fence_code(hart, fence);
}

bool mmu_peek(const struct hart *hart, uint64_t address, uint64_t *physical)
{
    unsigned levels = table_levels(hart, priv_data_mode(hart));
    struct walk walk;
    struct mmu_walk list;
    *physical = address;
    if (range_mmu_active(hart, priv_data_mode(hart)))
        return range_mmu_peek(hart, address, physical);
    if (levels == 0)
        return true;
    if (!canonical(address, levels) || walk_tables(hart, address, levels, &walk, &list) != WALK_LEAF)
        return false;
    uint64_t offset = (UINT64_C(1) << walk.bits) - 1;
    *physical = ((walk.pte >> PTE_PPN_SHIFT & SATP_PPN) << PAGE_BITS & ~offset) | (address & offset);
    return true;
}

static bool leaf_prefetches(const struct hart *hart, uint64_t pte, enum privilege mode)
{
    return leaf_allows(hart, pte, MMU_LOAD, mode) || leaf_allows(hart, pte, MMU_STORE, mode) ||
           leaf_allows(hart, pte, MMU_FETCH, mode);
}

bool mmu_prefetch(const struct hart *hart, uint64_t address, uint64_t *physical)
{
    const enum privilege mode = priv_data_mode(hart);
    unsigned levels = table_levels(hart, mode);
    struct walk walk;
    struct mmu_walk list;
    if (!mmu_peek(hart, address, physical))
        return false;
    if (levels > 0 && !range_mmu_active(hart, mode) &&
        (walk_tables(hart, address, levels, &walk, &list) != WALK_LEAF ||
         !leaf_prefetches(hart, walk.pte, mode)))
        return false;
    return !hart->privileged || pmp_allows(&hart->priv, *physical, 1, PMP_R, mode) ||
           pmp_allows(&hart->priv, *physical, 1, PMP_W, mode) ||
           pmp_allows(&hart->priv, *physical, 1, PMP_X, mode);
}

bool mmu_translates(const struct hart *hart, enum privilege mode)
{
    return table_levels(hart, mode) > 0 || range_mmu_active(hart, mode);
}

void mmu_list_walk(const struct hart *hart, uint64_t address, enum privilege mode, struct mmu_walk *list)
{
    unsigned levels = table_levels(hart, mode);
    struct walk walk;
    *list = (struct mmu_walk){.bits = PAGE_BITS};
    if (range_mmu_active(hart, mode))
        range_mmu_list_walk(hart, address, list);
    else if (levels > 0 && canonical(address, levels))
        (void)walk_tables(hart, address, levels, &walk, list);
}
