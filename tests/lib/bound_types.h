/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/bound_types.h
 *
 * All types of the tables that have a struct (wire/bind.h), and room to read them.
 */
#ifndef NFSDIGEST_LIB_BOUND_TYPES_H
#define NFSDIGEST_LIB_BOUND_TYPES_H

#include "wire/bind.h"

struct bound_type {
    const struct type *type;
    const struct bound *bound;
    size_t size;
};

int bound_types_init(struct err *err);
void bound_types_free(void);
/* false: there are fewer. */
bool bound_types(uint32_t index, struct bound_type *to);

/* A struct with room for elements of its lists, and for elements of theirs. */
enum { BOUND_ROOM = 1 << 18 };
struct bound_room {
    void *at;
    size_t used;
    _Alignas(16) uint8_t memory[BOUND_ROOM];
};

/* Sets up |room|: of each list that a body of |t| can have, |most| elements. */
void bound_room(const struct bound_type *t, struct bound_room *room, uint32_t most);

#endif
