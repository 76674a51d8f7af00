/* Lagrangian hydrodynamics on a mesh of hexahedra: the Sedov blast of LULESH, a time step of which is, from the reports'
 * description, not its code:
 *
 *   corner_forces  stress (pressure and viscosity) on the faces and damping of the four hourglass modes (Flanagan and Belytschko
 *                  1981), gathered from the element's eight nodes; stands for CalcVolumeForceForElems
 *   move_nodes     the sum of the forces of a node's corners, acceleration, velocity, position; symmetric at three
 *                  sides; stands for the node kernels
 *   update         volume, artificial viscosity, energy and pressure of an ideal gas; stands for kinematics, gradients, regions and
 *                  material (CalcLagrangeElements, CalcQForElems, ApplyMaterialPropertiesForElems)
 *   shortest       the least of the elements' limits of the next time step, by blocks
 *
 * Left out: monotonic limiters of the viscosity, several materials, iterations of the equation of state. */
#include "../simt/kernel.h"

enum { BLOCK = 128, CORNERS = 8, DIMENSIONS = 3 };

/* The arrays of an element's corners stay in registers if calls and loops are expanded. */
#define INLINE static inline __attribute__((always_inline))
#define EXPAND _Pragma("GCC unroll 8")

static const double gamma_gas = 1.4, hourglass = 0.03, linear_q = 0.06, square_q = 2;

struct mesh {
    long edge, elements, nodes;   /* edge: elements along a side */
    const uint32_t *corner_nodes; /* [corner][element] */
    const uint32_t *first_corner; /* of each node in corners[]; one more at the end */
    const uint32_t *corners;      /* corner * elements + element */
    const double *node_mass;
    double *position[DIMENSIONS], *velocity[DIMENSIONS]; /* [node] */
    double *force[DIMENSIONS];                           /* [corner][element] */
    double *volume, *energy, *pressure, *viscosity, *sound,
        *limit;       /* [element]; volumes relative to the first */
    double *shortest; /* [block] */
    double spacing, step;
};

INLINE void gather(const struct mesh *m, double *const from[DIMENSIONS], long element,
                   double to[CORNERS][DIMENSIONS])
{
    EXPAND
    for (int c = 0; c < CORNERS; c++) {
        uint32_t node = m->corner_nodes[c * m->elements + element];
        EXPAND
        for (int d = 0; d < DIMENSIONS; d++)
            to[c][d] = from[d][node];
    }
}

/* Adds a face's force to its corners a, b, c, d, which are counterclockwise seen from outside: the stress pushes
 * outwards. */
INLINE void push_face(double x[CORNERS][DIMENSIONS], double force[CORNERS][DIMENSIONS], double stress, int a,
                      int b, int c, int d)
{
    double ac[DIMENSIONS], bd[DIMENSIONS];
    EXPAND
    for (int i = 0; i < DIMENSIONS; i++) {
        ac[i] = x[c][i] - x[a][i];
        bd[i] = x[d][i] - x[b][i];
    }
    EXPAND
    for (int i = 0; i < DIMENSIONS; i++) {
        int j = (i + 1) % DIMENSIONS, k = (i + 2) % DIMENSIONS;
        double quarter = stress * (ac[j] * bd[k] - ac[k] * bd[j]) / 8;
        force[a][i] += quarter;
        force[b][i] += quarter;
        force[c][i] += quarter;
        force[d][i] += quarter;
    }
}

/* Adds the force against the corners' velocity in an hourglass mode, the signs of which are the bits of `mode`. */
INLINE void damp_mode(double velocity[CORNERS][DIMENSIONS], double force[CORNERS][DIMENSIONS], double factor,
                      unsigned mode)
{
    EXPAND
    for (int d = 0; d < DIMENSIONS; d++) {
        double along = 0;
        EXPAND
        for (int c = 0; c < CORNERS; c++)
            along += mode >> c & 1 ? velocity[c][d] : -velocity[c][d];
        along *= factor;
        EXPAND
        for (int c = 0; c < CORNERS; c++)
            force[c][d] -= mode >> c & 1 ? along : -along;
    }
}

INLINE void push_corners(const struct mesh *m, long element)
{
    double x[CORNERS][DIMENSIONS], force[CORNERS][DIMENSIONS] = {{0}};
    gather(m, m->position, element, x);
    double stress = m->pressure[element] + m->viscosity[element];
    push_face(x, force, stress, 0, 3, 2, 1);
    push_face(x, force, stress, 4, 5, 6, 7);
    push_face(x, force, stress, 0, 1, 5, 4);
    push_face(x, force, stress, 1, 2, 6, 5);
    push_face(x, force, stress, 2, 3, 7, 6);
    push_face(x, force, stress, 3, 0, 4, 7);
    gather(m, m->velocity, element, x);
    double factor = hourglass * m->sound[element] * m->spacing * m->spacing / CORNERS;
    damp_mode(x, force, factor, 0x55);
    damp_mode(x, force, factor, 0xc3);
    damp_mode(x, force, factor, 0x69);
    damp_mode(x, force, factor, 0x5a);
    EXPAND
    for (int c = 0; c < CORNERS; c++)
        EXPAND
    for (int d = 0; d < DIMENSIONS; d++)
        m->force[d][c * m->elements + element] = force[c][d];
}

static inline void move_node(const struct mesh *m, long node)
{
    double force[DIMENSIONS] = {0}, per_mass = 1 / m->node_mass[node];
    for (uint32_t i = m->first_corner[node]; i < m->first_corner[node + 1]; i++)
        EXPAND
    for (int d = 0; d < DIMENSIONS; d++)
        force[d] += m->force[d][m->corners[i]];
    long side = m->edge + 1, place[DIMENSIONS] = {node % side, node / side % side, node / side / side};
    EXPAND
    for (int d = 0; d < DIMENSIONS; d++) {
        double speed = m->velocity[d][node] + (place[d] ? force[d] * per_mass * m->step : 0);
        if (fabs(speed) < 1e-7)
            speed = 0;
        m->velocity[d][node] = speed;
        m->position[d][node] += speed * m->step;
    }
}

/* Returns six times the volume of the tetrahedron of corners 0, 6, a, b. */
INLINE double tetrahedron(double x[CORNERS][DIMENSIONS], int a, int b)
{
    double e[3][DIMENSIONS], sum = 0;
    EXPAND
    for (int d = 0; d < DIMENSIONS; d++) {
        e[0][d] = x[a][d] - x[0][d];
        e[1][d] = x[b][d] - x[0][d];
        e[2][d] = x[6][d] - x[0][d];
    }
    EXPAND
    for (int i = 0; i < DIMENSIONS; i++) {
        int j = (i + 1) % DIMENSIONS, k = (i + 2) % DIMENSIONS;
        sum += e[0][i] * (e[1][j] * e[2][k] - e[1][k] * e[2][j]);
    }
    return sum;
}

INLINE void update_element(const struct mesh *m, long element)
{
    double x[CORNERS][DIMENSIONS];
    gather(m, m->position, element, x);
    double volume = tetrahedron(x, 1, 2) + tetrahedron(x, 2, 3) + tetrahedron(x, 3, 7) +
                    tetrahedron(x, 7, 4) + tetrahedron(x, 4, 5) + tetrahedron(x, 5, 1);
    volume /= 6 * m->spacing * m->spacing * m->spacing;
    double change = volume - m->volume[element], density = 1 / volume, sound = m->sound[element];
    double closing = change < 0 ? -change / (volume * m->step) * m->spacing : 0; /* speed */
    double viscosity = density * closing * (linear_q * sound + square_q * closing);
    double energy =
        m->energy[element] - change * (m->pressure[element] + 0.5 * (m->viscosity[element] + viscosity));
    energy = energy < 0 ? 0 : energy;
    double pressure = (gamma_gas - 1) * energy * density;
    sound = __builtin_sqrt(gamma_gas * pressure * volume + 1e-12);
    m->volume[element] = volume;
    m->viscosity[element] = viscosity;
    m->energy[element] = energy;
    m->pressure[element] = pressure;
    m->sound[element] = sound;
    m->limit[element] = m->spacing / (sound + 4 * square_q * closing);
}

/* The kernels copy the mesh's pointers first, as a GPU's kernels have them in constant memory. */
static void corner_forces(const struct mesh *argument)
{
    const struct mesh m = *argument;
    long element = (long)thread_id();
    if (element < m.elements)
        push_corners(&m, element);
}

static void move_nodes(const struct mesh *argument)
{
    const struct mesh m = *argument;
    long node = (long)thread_id();
    if (node < m.nodes)
        move_node(&m, node);
}

static void update(const struct mesh *argument)
{
    const struct mesh m = *argument;
    long element = (long)thread_id();
    if (element < m.elements)
        update_element(&m, element);
}

static void shortest(const struct mesh *argument)
{
    const struct mesh m = *argument;
    double *tree = simt_shared();
    uint32_t t = thread_x();
    long element = (long)thread_id();
    tree[t] = element < m.elements ? m.limit[element] : INFINITY;
    for (uint32_t half = BLOCK / 2; half > 0; half /= 2) {
        simt_barrier();
        if (t < half && tree[t + half] < tree[t])
            tree[t] = tree[t + half];
    }
    if (t == 0)
        m.shortest[block_x()] = tree[0];
}

/* Sets the next step from the elements' limits; it may grow by a fifth. */
static void set_step(struct mesh *m, const double *limits, long count)
{
    double least = 1.2 * m->step;
    for (long i = 0; i < count; i++)
        least = 0.4 * limits[i] < least ? 0.4 * limits[i] : least;
    m->step = least;
}

static void step_simt(struct mesh *m)
{
    uint32_t blocks = kernel_blocks(m->elements, BLOCK);
    KERNEL_RUN(corner_forces, m, simt_dim(blocks), simt_dim(BLOCK));
    KERNEL_RUN(move_nodes, m, simt_dim(kernel_blocks(m->nodes, BLOCK)), simt_dim(BLOCK));
    KERNEL_RUN(update, m, simt_dim(blocks), simt_dim(BLOCK));
    KERNEL_RUN(shortest, m, simt_dim(blocks), simt_dim(BLOCK), .scratchpad = BLOCK * sizeof(double));
    set_step(m, m->shortest, blocks);
}

static void step_scalar(struct mesh *m)
{
    for (long element = 0; element < m->elements; element++)
        push_corners(m, element);
    for (long node = 0; node < m->nodes; node++)
        move_node(m, node);
    for (long element = 0; element < m->elements; element++)
        update_element(m, element);
    set_step(m, m->limit, m->elements);
}

/* Numbers the corners of each element, and lists those of each node. */
static void connect(struct mesh *m)
{
    long side = m->edge + 1;
    uint32_t *nodes = kernel_array(CORNERS * m->elements, sizeof *nodes);
    uint32_t *first = kernel_array(m->nodes + 2, sizeof *first),
             *corners = kernel_array(CORNERS * m->elements, sizeof *corners);
    double *mass = kernel_array(m->nodes, sizeof *mass);
    for (long e = 0; e < m->elements; e++) {
        long x = e % m->edge, y = e / m->edge % m->edge, z = e / m->edge / m->edge;
        EXPAND
        for (int c = 0; c < CORNERS; c++) { /* counterclockwise below, then above */
            long at = x + (c % 4 == 1 || c % 4 == 2) + side * (y + (c % 4 > 1)) + side * side * (z + (c > 3));
            nodes[c * m->elements + e] = (uint32_t)at;
            mass[at] += m->spacing * m->spacing * m->spacing / CORNERS;
            first[at + 2]++;
        }
    }
    for (long i = 2; i < m->nodes + 2; i++)
        first[i] += first[i - 1];
    for (long e = 0; e < m->elements; e++)
        EXPAND
    for (int c = 0; c < CORNERS; c++)
        corners[first[nodes[c * m->elements + e] + 1]++] = (uint32_t)(c * m->elements + e);
    m->corner_nodes = nodes;
    m->first_corner = first;
    m->corners = corners;
    m->node_mass = mass;
}

static void setup(struct mesh *m, long edge)
{
    *m = (struct mesh){.edge = edge,
                       .elements = edge * edge * edge,
                       .nodes = (edge + 1) * (edge + 1) * (edge + 1),
                       .spacing = 1.125 / (double)edge,
                       .shortest = kernel_array(kernel_blocks(edge * edge * edge, BLOCK), sizeof(double))};
    connect(m);
    double **arrays[] = {&m->volume, &m->energy, &m->pressure, &m->viscosity, &m->sound, &m->limit};
    for (int i = 0; i < 6; i++)
        *arrays[i] = kernel_array(m->elements, sizeof(double));
    EXPAND
    for (int d = 0; d < DIMENSIONS; d++) {
        m->position[d] = kernel_array(m->nodes, sizeof(double));
        m->velocity[d] = kernel_array(m->nodes, sizeof(double));
        m->force[d] = kernel_array(CORNERS * m->elements, sizeof(double));
    }
    for (long node = 0; node < m->nodes; node++) {
        long side = edge + 1, place[DIMENSIONS] = {node % side, node / side % side, node / side / side};
        EXPAND
        for (int d = 0; d < DIMENSIONS; d++)
            m->position[d][node] = (double)place[d] * m->spacing;
    }
    uint64_t state = 23;
    for (long element = 0; element < m->elements; element++) {
        m->volume[element] = 1;
        /* per initial volume: the blast, and elsewhere a little, so that everything moves */
        m->energy[element] = element ? 0.1 + 0.1 * (double)kernel_random_float(&state) : 10;
        m->pressure[element] = (gamma_gas - 1) * m->energy[element];
        m->sound[element] = sqrt(gamma_gas * m->pressure[element]);
    }
    m->step = 0.1 * m->spacing / m->sound[0];
}

static int close_doubles(const double *values, const double *expected, long count)
{
    for (long i = 0; i < count; i++)
        if (!(fabs(values[i] - expected[i]) <= 1e-9))
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static const struct kernel_argument arguments[] = {{"EDGE", 6, 1, 200}, {"STEPS", 3, 1, 1000}};
    long sizes[2];
    kernel_arguments(argc, argv, arguments, 2, sizes);
    struct mesh simt, scalar;
    setup(&simt, sizes[0]);
    setup(&scalar, sizes[0]);
    croft_roi_begin("lulesh");
    for (long step = 0; step < sizes[1]; step++)
        step_simt(&simt);
    croft_roi_end("lulesh");

    for (long step = 0; step < sizes[1]; step++)
        step_scalar(&scalar);
    int correct = close_doubles(simt.energy, scalar.energy, simt.elements) && simt.velocity[0][1] > 0;
    EXPAND
    for (int d = 0; d < DIMENSIONS; d++)
        correct = correct && close_doubles(simt.position[d], scalar.position[d], simt.nodes);
    return kernel_report("lulesh", simt.elements, simt.energy, (size_t)simt.elements * sizeof(double),
                         correct);
}
