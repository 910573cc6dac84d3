/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/generated.h
 *
 * Bodies of random values from a seed, written by the tables (wire/write.h), with a list of what
 * was chosen.  The choices are made here, not by the writer.
 */
#ifndef NFSDIGEST_LIB_GENERATED_H
#define NFSDIGEST_LIB_GENERATED_H

#include "wire/write.h"

struct generated_value {
    const struct field *field;
    uint32_t index;
    uint64_t value;
    size_t at; /* of its bytes in |bytes| */
    uint32_t len;
};

/* All zeros but for |state|, the seed, is a valid one. */
struct generated {
    uint64_t state;
    bool plain;   /* printable texts, fractions of a second: what a server could send */
    bool success; /* statuses are 0 */
    struct generated_value *values;
    uint32_t count, cap;
    struct buf bytes;
    struct buf body;
};

/* Replaces values and body.  Aborts without memory. */
int generate(struct generated *g, const struct type *type, struct err *err);
void generated_free(struct generated *g);
uint64_t generated_random(struct generated *g, uint64_t below);

#endif
