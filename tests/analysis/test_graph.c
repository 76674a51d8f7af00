/* Dominators and natural loops of random graphs, against their definitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/analysis/flow/loops.h"
#include "tests/isa/random.h"

enum { NODES = 14, EDGES = 40, GRAPHS = 3000 };

struct sample {
    unsigned nodes, count;
    struct digraph_edge edges[EDGES];
};

static struct sample draw(struct random *random)
{
    struct sample s = {.nodes = 1 + random_below(random, NODES)};
    s.count = s.nodes / 2 + random_below(random, 2 * s.nodes);
    for (unsigned i = 0; i < s.count; i++) {
        s.edges[i].from = random_below(random, s.nodes);
        s.edges[i].to = random_below(random, s.nodes);
    }
    return s;
}

/* Marks the nodes that `from` reaches on paths that do not enter or leave node `without`. */
static void reach(const struct sample *s, unsigned from, unsigned without, bool reached[NODES])
{
    memset(reached, 0, NODES * sizeof *reached);
    reached[from] = from != without;
    for (bool grows = true; grows;) {
        grows = false;
        for (unsigned i = 0; i < s->count; i++) {
            const struct digraph_edge *e = &s->edges[i];
            if (!reached[e->from] || reached[e->to] || e->to == without)
                continue;
            reached[e->to] = grows = true;
        }
    }
}

/* Fills in whether node a dominates node b, from the definition: without a, node 0 does not reach b. */
static void define(const struct sample *s, bool dominate[NODES][NODES])
{
    bool reached[NODES], without[NODES];
    memset(dominate, 0, sizeof(bool[NODES][NODES]));
    reach(s, 0, NODE_NONE, reached);
    for (unsigned a = 0; a < s->nodes; a++) {
        reach(s, 0, a, without);
        for (unsigned b = 0; b < s->nodes; b++)
            dominate[a][b] = reached[a] && reached[b] && !without[b];
    }
}

/* The common dominator of two nodes that all others dominate; NODE_NONE: there is none. */
static unsigned common(const struct sample *s, bool dominate[NODES][NODES], unsigned a, unsigned b)
{
    unsigned best = NODE_NONE;
    for (unsigned c = 0; c < s->nodes; c++)
        if (dominate[c][a] && dominate[c][b] && (best == NODE_NONE || dominate[best][c]))
            best = c;
    return best;
}

static void check_dominators(const struct sample *s, const struct dominators *found,
                             bool dominate[NODES][NODES])
{
    for (unsigned a = 0; a < s->nodes; a++) {
        unsigned depth = 0;
        for (unsigned b = 0; b < s->nodes; b++) {
            assert_int_equal(dominates(found, a, b), dominate[a][b]);
            assert_int_equal(dominators_common(found, a, b), common(s, dominate, a, b));
            depth += dominate[b][a];
        }
        assert_int_equal(found->depth[a], depth);
        if (depth > 1)
            assert_true(dominate[found->parent[a]][a] && found->depth[found->parent[a]] + 1 == depth);
        else
            assert_int_equal(found->parent[a], NODE_NONE);
    }
}

/* Fills in the nodes of the loop of header h. Returns whether there is a back edge. */
static bool define_loop(const struct sample *s, bool dominate[NODES][NODES], unsigned h, bool inside[NODES])
{
    bool back = false, from[NODES];
    memset(inside, 0, NODES * sizeof *inside);
    for (unsigned i = 0; i < s->count; i++) {
        const struct digraph_edge *e = &s->edges[i];
        if (e->to != h || !dominate[h][e->from])
            continue;
        back = inside[h] = true;
        for (unsigned node = 0; node < s->nodes; node++) {
            reach(s, node, h, from);
            inside[node] = inside[node] || (from[e->from] && dominate[0][node]);
        }
    }
    return back;
}

static void check_loops(const struct sample *s, const struct loops *found, bool dominate[NODES][NODES])
{
    unsigned count = 0, at;
    bool inside[NODES];
    for (unsigned h = 0; h < s->nodes; h++) {
        bool exists = define_loop(s, dominate, h, inside);
        for (at = 0; at < found->count && found->list[at].header != h; at++) {
        }
        assert_int_equal(exists, at < found->count);
        count += exists;
        for (unsigned node = 0; exists && node < s->nodes; node++)
            assert_int_equal(loops_contain(found, at, node), inside[node]);
        if (exists)
            assert_int_equal(found->members[found->list[at].first], h);
    }
    assert_int_equal(count, found->count);
    for (unsigned i = 0; i < found->count; i++) {
        unsigned depth = 0;
        for (unsigned j = 0; j < found->count; j++)
            depth += loops_contain(found, j, found->list[i].header);
        assert_int_equal(found->list[i].depth, depth);
    }
}

/* Without back edges, a graph in which each cycle has one entry has no cycles. */
static bool reducible(const struct sample *s, bool dominate[NODES][NODES])
{
    struct sample rest = {.nodes = s->nodes};
    bool reached[NODES];
    for (unsigned i = 0; i < s->count; i++)
        if (dominate[0][s->edges[i].from] && !dominate[s->edges[i].to][s->edges[i].from])
            rest.edges[rest.count++] = s->edges[i];
    for (unsigned i = 0; i < rest.count; i++) {
        reach(&rest, rest.edges[i].to, NODE_NONE, reached);
        if (reached[rest.edges[i].from])
            return false;
    }
    return true;
}

static void definitions_hold(void **state)
{
    (void)state;
    struct random random = {1};
    unsigned loops_seen = 0, irreducible_seen = 0;
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct sample s = draw(&random);
        bool dominate[NODES][NODES];
        struct digraph graph = digraph_new(s.nodes, s.edges, s.count);
        struct dominators found = dominators_of(&graph, 0);
        struct loops loops = loops_of(&graph, &found);
        define(&s, dominate);
        check_dominators(&s, &found, dominate);
        check_loops(&s, &loops, dominate);
        assert_int_equal(loops.irreducible == 0, reducible(&s, dominate));
        loops_seen += loops.count;
        irreducible_seen += loops.irreducible > 0;
        loops_free(&loops);
        dominators_free(&found);
        digraph_free(&graph);
    }
    assert_true(loops_seen > GRAPHS / 2 && irreducible_seen > GRAPHS / 20);
}

/* The reverse of the reverse has the same edges; the order is a reverse post-order: each edge that does not close a cycle
 * goes forward. */
static void edges_turn_round(void **state)
{
    (void)state;
    const struct digraph_edge edges[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 0}, {3, 3}};
    struct digraph graph = digraph_new(5, edges, 6);
    struct digraph reverse = digraph_reverse(&graph), again = digraph_reverse(&reverse);
    assert_int_equal(reverse.first[4] - reverse.first[3], 3);
    assert_memory_equal(again.first, graph.first, 6 * sizeof *graph.first);
    assert_memory_equal(again.to, graph.to, 6 * sizeof *graph.to);
    unsigned order[5];
    assert_int_equal(digraph_order(&graph, 0, order), 4);
    assert_int_equal(order[0], 0);
    assert_int_equal(order[3], 3);
    digraph_free(&again);
    digraph_free(&reverse);
    digraph_free(&graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_hold),
        cmocka_unit_test(edges_turn_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
