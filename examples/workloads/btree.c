/* Searches in a B+ tree, one block a query and one thread a key of a node, as in Rodinia's: each level's threads compare the query
 * with their key and the next, and the one that it lies between names the child. `find` looks up records; `find_range` the
 * first record and the number of records of a range of keys. Nodes have 256 keys at most, and are two thirds full, as insertions
 * in random order leave them. */
#include "../simt/kernel.h"

enum { ORDER = 256, FILLED = 171, LEVELS_MOST = 6, NONE = -1 };

struct node {
    int32_t key[ORDER + 1];   /* ascending; INT32_MAX where there is none */
    int32_t child[ORDER + 1]; /* number of the node, or of the record */
};

/* A query's state is in memory, as in Rodinia's: [query]. */
struct queries {
    const struct node *nodes;
    long root, levels;
    const int32_t *first, *last; /* keys; last only of ranges */
    int32_t *at[2];              /* nodes on the way to first and last */
    int32_t *next[2];
    int32_t *record, *count;
};

/* Follows the key one level down: the thread whose keys it lies between stores the child. */
static inline void descend(const struct queries *q, int end, int32_t key)
{
    uint32_t query = block_x(), t = thread_x();
    const struct node *node = q->nodes + q->at[end][query];
    if (node->key[t] <= key && key < node->key[t + 1])
        q->next[end][query] = node->child[t];
}

/* The kernels copy their arguments first, as a GPU's kernels have them in constant memory. */
static void find(const struct queries *argument)
{
    const struct queries q = *argument;
    uint32_t query = block_x(), t = thread_x();
    int32_t key = q.first[query];
    for (long level = 1; level < q.levels; level++) {
        descend(&q, 0, key);
        simt_barrier();
        if (t == 0)
            q.at[0][query] = q.next[0][query];
        simt_barrier();
    }
    const struct node *leaf = q.nodes + q.at[0][query];
    if (leaf->key[t] == key)
        q.record[query] = leaf->child[t];
}

static void find_range(const struct queries *argument)
{
    const struct queries q = *argument;
    uint32_t query = block_x(), t = thread_x();
    int32_t first = q.first[query], last = q.last[query];
    for (long level = 1; level < q.levels; level++) {
        descend(&q, 0, first);
        descend(&q, 1, last);
        simt_barrier();
        if (t == 0) {
            q.at[0][query] = q.next[0][query];
            q.at[1][query] = q.next[1][query];
        }
        simt_barrier();
    }
    const struct node *leaf = q.nodes + q.at[0][query];
    if (leaf->key[t] == first)
        q.record[query] = leaf->child[t];
    simt_barrier();
    leaf = q.nodes + q.at[1][query];
    if (leaf->key[t] == last)
        q.count[query] = leaf->child[t] - q.record[query] + 1;
}

/* Builds the tree upwards from the sorted keys; the root is the last node. */
static struct node *tree_make(const int32_t *keys, long count, long *root, long *levels)
{
    long total = 0, width = count;
    for (*levels = 0; width > 1 || *levels == 0; ++*levels, total += width)
        width = (width + FILLED - 1) / FILLED;
    struct node *nodes = kernel_array(total, sizeof *nodes);
    long below = 0, next = 0;
    for (long level = 0; level < *levels; level++) {
        long members = level ? next - below : count, first = next;
        for (long i = 0; i < members; i++) {
            struct node *node = nodes + first + i / FILLED;
            node->key[i % FILLED] = level ? nodes[below + i].key[0] : keys[i];
            node->child[i % FILLED] = (int32_t)(level ? below + i : i);
        }
        below = first;
        next = first + (members + FILLED - 1) / FILLED;
        long used = (members - 1) % FILLED + 1;
        for (long i = first; i < next; i++)
            for (long k = i < next - 1 ? FILLED : used; k <= ORDER; k++)
                nodes[i].key[k] = INT32_MAX;
    }
    *root = total - 1;
    return nodes;
}

/* Returns the number of the key, or NONE. */
static int32_t find_scalar(const int32_t *keys, long count, int32_t key)
{
    long low = 0;
    for (long high = count; low + 1 < high;) {
        long middle = (low + high) / 2;
        if (keys[middle] <= key)
            low = middle;
        else
            high = middle;
    }
    return keys[low] == key ? (int32_t)low : NONE;
}

static void queries_reset(struct queries *q, long count)
{
    for (long i = 0; i < count; i++) {
        q->at[0][i] = q->at[1][i] = (int32_t)q->root;
        q->record[i] = NONE;
        q->count[i] = 0;
    }
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {
        {"KEYS", 40000, 2, 1 << 24}, {"QUERIES", 64, 1, 1 << 20}, {"RANGES", 32, 1, 1 << 20}};
    long sizes[3];
    kernel_arguments(argc, argv, arguments, 3, sizes);
    long count = sizes[0], queries = sizes[1], ranges = sizes[2], most = queries > ranges ? queries : ranges;
    int32_t *keys = kernel_array(count, sizeof *keys);
    uint64_t state = 6;
    for (long i = 0; i < count; i++)
        keys[i] = (int32_t)(2 * i + kernel_random(&state) % 2);
    struct queries q = {.record = kernel_array(most, sizeof(int32_t)),
                        .count = kernel_array(most, sizeof(int32_t))};
    int32_t *first = kernel_array(most, sizeof *first), *last = kernel_array(most, sizeof *last);
    q.nodes = tree_make(keys, count, &q.root, &q.levels);
    for (int end = 0; end < 2; end++) {
        q.at[end] = kernel_array(most, sizeof(int32_t));
        q.next[end] = kernel_array(most, sizeof(int32_t));
    }
    q.first = first;
    q.last = last;
    int correct = 1;
    uint64_t digest = 0;

    for (long i = 0; i < queries; i++) /* one of sixteen is missing */
        first[i] = keys[kernel_random(&state) % count] ^ (kernel_random(&state) % 16 == 0);
    queries_reset(&q, queries);
    croft_roi_begin("btree");
    KERNEL_RUN(find, &q, simt_dim((uint32_t)queries), simt_dim(ORDER));
    croft_roi_end("btree");
    for (long i = 0; i < queries; i++) {
        correct = correct && q.record[i] == find_scalar(keys, count, first[i]);
        digest = digest * 31 + (uint64_t)q.record[i];
    }

    for (long i = 0; i < ranges; i++) {
        long from = kernel_random(&state) % count, length = kernel_random(&state) % 1000;
        first[i] = keys[from];
        last[i] = keys[from + length < count ? from + length : count - 1];
    }
    queries_reset(&q, ranges);
    croft_roi_begin("btree");
    KERNEL_RUN(find_range, &q, simt_dim((uint32_t)ranges), simt_dim(ORDER));
    croft_roi_end("btree");
    for (long i = 0; i < ranges; i++) {
        int32_t from = find_scalar(keys, count, first[i]);
        correct =
            correct && q.record[i] == from && q.count[i] == find_scalar(keys, count, last[i]) - from + 1;
        digest = digest * 31 + (uint64_t)q.record[i] * 7 + (uint64_t)q.count[i];
    }
    return kernel_report("btree", count, &digest, sizeof digest, correct);
}
