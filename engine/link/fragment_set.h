/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/link/fragment_set.h
 *
 * The fragments of one datagram; between fragment.c and fragment_save.c only.
 */
#ifndef NFSDIGEST_LINK_FRAGMENT_SET_H
#define NFSDIGEST_LINK_FRAGMENT_SET_H

#include "link/fragment.h"

struct fragment_set {
    struct fragment_key key;
    uint64_t hash;
    int64_t time;          /* of its first fragment */
    uint32_t older, newer; /* slots; |newer| links the free ones */
    uint8_t *data;
    uint32_t cap;
    uint32_t total;  /* 0: the last fragment was not seen */
    uint32_t end;    /* behind the last byte seen */
    uint32_t blocks; /* bits in |filled| */
    uint32_t fragments;
    uint8_t protocol;
    bool has_first; /* |protocol| is that of the fragment at offset 0 */
    bool copy;      /* begun right after a datagram of this key was completed */
    uint64_t filled[FRAGMENT_WORDS];
};

/* The slot of a new, empty set, the youngest; TABLE_NONE: no memory. */
uint32_t fragment_set_new(struct fragments *f, const struct fragment_key *key, int64_t time);

/* Room for |end| bytes in the set, at the cost of the oldest others. */
int fragment_set_reserve(struct fragments *f, uint32_t slot, uint32_t end);

#endif
