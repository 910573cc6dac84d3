/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/pairs.h
 *
 * Knows the pseudonym of each value: a table from originals to pseudonyms and one back, for the
 * whole capture.  Values are identified by 128 bits of their hash.
 *
 * Memory: at most PAIRS_MAX entries each way, 72 bytes with their places.  If there are more, only
 * those with the smaller hashes stay, a fraction that is a power of two.  So the order of values
 * does not matter.  A value with two pseudonyms, or a collision, is then found only if it is among
 * those that stay.  The cache has PAIRS_LATELY entries of 32 bytes.
 */
#ifndef NFSDIGEST_AUDIT_PAIRS_H
#define NFSDIGEST_AUDIT_PAIRS_H

#include "base/err.h"
#include "base/table.h"

enum { PAIRS_MAX = 1 << 20, PAIRS_LATELY = 1 << 12 };

/* A domain has one mapping for all of its values. */
enum domain {
    DOMAIN_NAME, /* and components of paths */
    DOMAIN_PATH, /* whole, when it did not keep its components */
    DOMAIN_HOST,
    DOMAIN_ADDRESS,
    DOMAIN_UID,
    DOMAIN_GID,
    DOMAIN_FILEID,
    DOMAIN_FSID,
    DOMAIN_DEVICE,
    DOMAIN_COOKIE,
    DOMAIN_VERIFIER,
    DOMAIN_LOCK_OWNER,
    DOMAIN_HANDLE,
    DOMAIN_STAMP,
    DOMAIN_OPAQUE,
    DOMAIN_CREDENTIAL,
    DOMAIN_XID,
    DOMAIN_PORT,
    DOMAIN_MAX
};

const char *domain_name(enum domain domain);

struct pair_entry {
    uint64_t key[2], other[2]; /* hashes of the value and of what it became */
    uint64_t frame;            /* of the original, where it was seen first */
    uint64_t uses;             /* when pairs_settle was called */
    uint8_t domain, bits;      /* a number's width, 0 for bytes */
    bool zero;                 /* the value became only zeros, or empty */
    bool kept;                 /* allowed to stay as it is */
    bool short_value;          /* has so few bits that it may appear by chance */
};

struct pair_side {
    struct pair_entry *all;
    uint32_t count, cap;
    unsigned halvings;
    struct table by_key;
};

/* A cache for short values, which often repeat: pairs that were seen lately and were correct. */
struct pair_lately {
    uint64_t from, to;      /* up to 8 bytes */
    uint32_t forward, back; /* indexes of the entries; TABLE_NONE: not in the sample */
    uint32_t kind;          /* domain, width and lengths; 0: none */
    uint32_t uses;          /* not yet counted in the entries */
};

struct pairs {
    struct pair_side forward, back;
    uint32_t max;
    struct pair_lately lately[PAIRS_LATELY];
};

/* If |max| is 0, it is PAIRS_MAX. */
void pairs_init(struct pairs *p, uint32_t max);
void pairs_free(struct pairs *p);

struct pair_value {
    const void *data;
    uint32_t len;
};

/* A value and what it became. */
struct pair_values {
    enum domain domain;
    unsigned bits; /* struct pair_entry; part of the value's identity */
    struct pair_value from, to;
    bool kept; /* allowed to stay as it is */
};

/* What pairs_add found out about a pair. */
struct pair_result {
    bool is_new;      /* this original was not seen before */
    bool contradicts; /* it became something else before */
    bool collides;    /* something else became the same before; never for zeros */
    bool collides_in_zero;
    uint64_t frame; /* where the earlier value was */
};

/* Adds a pair and says in |result| what changed.  |frame| is the original's. */
int pairs_add(struct pairs *p, const struct pair_values *pair, uint64_t frame,
              struct pair_result *result, struct err *err);

/* Counts all uses in the entries. */
void pairs_settle(struct pairs *p);

/* Returns true if the value is a pseudonym of the domain. */
bool pairs_is_pseudonym(const struct pairs *p, enum domain domain, unsigned bits,
                        struct pair_value value);

/* These use one side alone, as a set of hashes. */
bool pair_side_has(const struct pair_side *side, uint64_t key);
struct pair_entry *pair_side_find(const struct pair_side *side, const uint64_t key[2]);
int pair_side_add(struct pair_side *side, const struct pair_entry *entry, struct err *err);
void pair_side_free(struct pair_side *side);

/* Finds the original of the domain that is equal to |pseudonym|.  Returns NULL if there is none, or
 * if it was allowed to stay. */
const struct pair_entry *pairs_original(const struct pairs *p, const struct pair_entry *pseudonym);

#endif
