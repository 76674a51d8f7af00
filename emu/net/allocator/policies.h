/* The arbitration policies of a network's routers: one row each. A new policy is a row here and its functions in arbitration.c.
 *
 * POLICY(NAME, key, meaning, prefers, within, prepare, greedy, total, exhaustive): NETWORK_NAME and the key of descriptions; its
 * part of the keys' explanation; then the members of struct arbitration_policy (arbitration.h). */
#ifndef EMU_NET_ALLOCATOR_POLICIES_H
#define EMU_NET_ALLOCATOR_POLICIES_H

/* clang-format off */
#define NETWORK_POLICIES(POLICY) \
    POLICY(ROUND_ROBIN, "round_robin", "",                               NULL,    NULL,    NULL,        false, false, false) \
    POLICY(AGE,         "age",         "age: oldest; ",           older,   older,   NULL,        true,  true,  false) \
    POLICY(AGE_INPUT,   "age_input",   "age_input: of an input; ",       NULL, older,   NULL,        false, false, false) \
    POLICY(DISTANCE,    "distance",    "distance: hops; ",               farther, farther, measure,     false, false, false) \
    POLICY(LOADS,       "loads",       "loads: age, flits; ",         loaded, loaded, make_loads,  true,  true,  false) \
    POLICY(ORACLE,      "oracle",      "oracle: flits ahead.",       heavier, heavier, make_oracle, true, false, true)
/* clang-format on */

#define POLICY_VALUE(NAME, ...)                 NETWORK_##NAME,
#define POLICY_KEY(NAME, key, ...)              [NETWORK_##NAME] = key,
#define POLICY_MEANING(NAME, key, meaning, ...) meaning

#endif
