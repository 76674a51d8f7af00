/* The parts of the world that a random program's steps read and write. */
#ifndef TESTS_MACHINE_STRESS_PARTS_H
#define TESTS_MACHINE_STRESS_PARTS_H

/* Fields of cells, arrays, and sums. */
enum {
    STRESS_PART_A,
    STRESS_PART_B,
    STRESS_PART_C,
    STRESS_PART_F,
    STRESS_PART_X,
    STRESS_PART_Y,
    STRESS_PART_Z,
    STRESS_PART_S,
    STRESS_PARTS,
};

/* Their bits in sets. */
enum {
    STRESS_A = 1 << STRESS_PART_A,
    STRESS_B = 1 << STRESS_PART_B,
    STRESS_C = 1 << STRESS_PART_C,
    STRESS_F = 1 << STRESS_PART_F,
    STRESS_X = 1 << STRESS_PART_X,
    STRESS_Y = 1 << STRESS_PART_Y,
    STRESS_Z = 1 << STRESS_PART_Z,
    STRESS_S = 1 << STRESS_PART_S,
};

#endif
