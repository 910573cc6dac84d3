/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/pairs.c
 *
 * Two tables of hashes, each halved when it is full.  A small memory of pairs met lately answers
 * for short values that come again; pairs_settle brings their uses into the tables.  Entries move
 * when a table is halved, so the small memory is emptied before.  audit_compare_text.c adds the
 * pairs.  One table alone is a set for audit_align.c, audit_compare.c and gather.c.  The contract
 * is in pairs.h.
 */
#include "audit/pairs.h"
#include "base/bytes.h"
#include "base/digest.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

const char *domain_name(enum domain domain)
{
    static const char *const names[DOMAIN_MAX] = {
        [DOMAIN_NAME] = "name",         [DOMAIN_PATH] = "path",
        [DOMAIN_HOST] = "host",         [DOMAIN_ADDRESS] = "address",
        [DOMAIN_UID] = "uid",           [DOMAIN_GID] = "gid",
        [DOMAIN_FILEID] = "fileid",     [DOMAIN_FSID] = "fsid",
        [DOMAIN_DEVICE] = "device",     [DOMAIN_COOKIE] = "cookie",
        [DOMAIN_VERIFIER] = "verifier", [DOMAIN_LOCK_OWNER] = "lock_owner",
        [DOMAIN_HANDLE] = "handle",     [DOMAIN_STAMP] = "stamp",
        [DOMAIN_OPAQUE] = "opaque",     [DOMAIN_CREDENTIAL] = "credential",
        [DOMAIN_XID] = "xid",           [DOMAIN_PORT] = "port",
    };

    return names[domain];
}

void pairs_init(struct pairs *p, uint32_t max)
{
    memset(p, 0, sizeof(*p));
    p->max = max ? max : PAIRS_MAX;
}

void pair_side_free(struct pair_side *side)
{
    free(side->all);
    table_free(&side->by_key);
}

void pairs_free(struct pairs *p)
{
    pair_side_free(&p->forward);
    pair_side_free(&p->back);
    memset(p, 0, sizeof(*p));
}

static void hash(enum domain domain, unsigned bits, struct pair_value v, uint64_t out[2])
{
    XXH128_hash_t h = XXH3_128bits_withSeed(v.data, v.len, (unsigned)domain << 8 | bits);

    out[0] = h.high64;
    out[1] = h.low64;
}

static bool same(const uint64_t a[2], const uint64_t b[2])
{
    return a[0] == b[0] && a[1] == b[1];
}

static struct pair_entry *find(const struct pair_side *side, const uint64_t key[2])
{
    uint32_t at, slot;

    for (slot = table_first(&side->by_key, key[0], &at); slot != TABLE_NONE;
         slot = table_next(&side->by_key, key[0], &at))
        if (same(side->all[slot].key, key))
            return &side->all[slot];
    return NULL;
}

bool pair_side_has(const struct pair_side *side, uint64_t key)
{
    uint32_t at;

    return table_first(&side->by_key, key, &at) != TABLE_NONE;
}

struct pair_entry *pair_side_find(const struct pair_side *side, const uint64_t key[2])
{
    return find(side, key);
}

static bool is_sampled(const struct pair_side *side, const uint64_t key[2])
{
    return !(key[1] & ((UINT64_C(1) << side->halvings) - 1));
}

static int no_memory(struct err *err)
{
    return err_memory(err, "the table of pseudonyms");
}

static int thin_out(struct pair_side *side, struct err *err)
{
    uint32_t kept = 0;

    side->halvings++;
    table_clear(&side->by_key);
    for (uint32_t i = 0; i < side->count; i++) {
        if (!is_sampled(side, side->all[i].key))
            continue;
        side->all[kept] = side->all[i];
        if (table_add(&side->by_key, side->all[kept].key[0], kept) < 0)
            return no_memory(err);
        kept++;
    }
    side->count = kept;
    return 0;
}

static int insert(struct pair_side *side, uint32_t max, const struct pair_entry *entry,
                  struct err *err)
{
    if (GROW(side->all, side->count, side->cap) < 0)
        return no_memory(err);
    if (table_add(&side->by_key, entry->key[0], side->count) < 0)
        return no_memory(err);
    side->all[side->count++] = *entry;
    while (side->count > max)
        if (thin_out(side, err) < 0)
            return -ERR_SYSTEM;
    return 0;
}

/* Fetches what find will look at, while there is other work: a place, then the entry there. */
static void fetch_entry(const struct pair_side *side, uint64_t key)
{
    uint32_t at, slot = table_first(&side->by_key, key, &at);

    if (slot != TABLE_NONE)
        __builtin_prefetch(&side->all[slot]);
}

static void fetch(const struct pairs *p, const struct pair_entry *entry)
{
    table_prefetch(&p->forward.by_key, entry->key[0]);
    table_prefetch(&p->back.by_key, entry->other[0]);
    fetch_entry(&p->forward, entry->key[0]);
    fetch_entry(&p->back, entry->other[0]);
}

static void settle_one(struct pairs *p, struct pair_lately *l)
{
    if (l->forward != TABLE_NONE)
        p->forward.all[l->forward].uses += l->uses;
    if (l->back != TABLE_NONE)
        p->back.all[l->back].uses += l->uses;
    l->uses = 0;
}

void pairs_settle(struct pairs *p)
{
    for (unsigned i = 0; i < PAIRS_LATELY; i++)
        if (p->lately[i].uses)
            settle_one(p, &p->lately[i]);
}

static int insert_in(struct pairs *p, struct pair_side *side, const struct pair_entry *entry,
                     struct err *err)
{
    if (side->count == p->max) { /* entries will move */
        pairs_settle(p);
        memset(p->lately, 0, sizeof(p->lately));
    }
    return insert(side, p->max, entry, err);
}

/* The entries of a pair, NULL when they are new or not among the sampled ones. */
struct known {
    struct pair_entry *forward, *back;
};

static int add(struct pairs *p, struct pair_entry *entry, struct pair_result *result,
               struct known *k, struct err *err)
{
    struct pair_entry turned, *known;
    int rc = 0;

    fetch(p, entry);
    turned = *entry;
    if (is_sampled(&p->forward, entry->key)) {
        k->forward = known = find(&p->forward, entry->key);
        if (!known) {
            result->is_new = true;
            rc = insert_in(p, &p->forward, entry, err);
        } else {
            known->uses++;
            if (!same(known->other, entry->other)) {
                result->contradicts = true;
                result->frame = known->frame;
            }
        }
    }
    memcpy(turned.key, entry->other, sizeof(turned.key));
    memcpy(turned.other, entry->key, sizeof(turned.other));
    if (rc < 0 || !is_sampled(&p->back, turned.key))
        return rc;
    k->back = known = find(&p->back, turned.key);
    if (!known)
        return insert_in(p, &p->back, &turned, err);
    known->uses++;
    if (!same(known->other, turned.other)) {
        *(entry->zero ? &result->collides_in_zero : &result->collides) = true;
        if (!result->contradicts)
            result->frame = known->frame;
    }
    return 0;
}

/* --- those met lately --- */

/* The place for a pair of short values, or NULL for others; |key|: what is there when it is known.
 */
static struct pair_lately *lately(struct pairs *p, const struct pair_values *pair,
                                  struct pair_lately *key)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    struct pair_value from = pair->from, to = pair->to;
    uint32_t kind =
        1u << 31 | (unsigned)pair->domain << 16 | pair->bits << 8 | from.len << 4 | to.len;

    if (from.len > sizeof(key->from) || to.len > sizeof(key->to))
        return NULL;
    *key = (struct pair_lately){ .kind = kind };
    memcpy(&key->from, from.data, from.len);
    memcpy(&key->to, to.data, to.len);
    return &p->lately[((key->from + kind) * odd ^ key->to * odd) >> 40 & (PAIRS_LATELY - 1)];
}

static bool use_again(struct pairs *p, struct pair_lately *place, const struct pair_lately *key)
{
    if (place->kind != key->kind || place->from != key->from || place->to != key->to)
        return false;
    if (++place->uses == UINT32_MAX)
        settle_one(p, place);
    return true;
}

int pairs_add(struct pairs *p, const struct pair_values *pair, uint64_t frame,
              struct pair_result *result, struct err *err)
{
    unsigned bits = pair->bits;
    struct pair_entry entry = { .frame = frame,
                                .uses = 1,
                                .domain = (uint8_t)pair->domain,
                                .bits = (uint8_t)bits,
                                .kept = pair->kept,
                                .short_value = bits ? bits < 32 : pair->to.len < 7 };
    struct known k = { NULL, NULL };
    struct pair_lately key, *place = lately(p, pair, &key);
    bool f, b;

    *result = (struct pair_result){ 0 };
    if (place && use_again(p, place, &key))
        return 0;
    hash(pair->domain, bits, pair->from, entry.key);
    hash(pair->domain, bits, pair->to, entry.other);
    entry.zero = bytes_are_zeros(pair->to.data, pair->to.len);
    if (add(p, &entry, result, &k, err) < 0)
        return -ERR_SYSTEM;
    f = k.forward || !is_sampled(&p->forward, entry.key);
    b = k.back || !is_sampled(&p->back, entry.other);
    if (!place || !f || !b || result->contradicts || result->collides || result->collides_in_zero)
        return 0;
    if (place->uses)
        settle_one(p, place);
    *place = key;
    place->forward = k.forward ? (uint32_t)(k.forward - p->forward.all) : TABLE_NONE;
    place->back = k.back ? (uint32_t)(k.back - p->back.all) : TABLE_NONE;
    return 0;
}

const struct pair_entry *pairs_original(const struct pairs *p, const struct pair_entry *pseudonym)
{
    const struct pair_entry *found = find(&p->forward, pseudonym->key);

    return found && !found->kept ? found : NULL;
}

int pair_side_add(struct pair_side *side, const struct pair_entry *entry, struct err *err)
{
    return insert(side, UINT32_MAX, entry, err);
}

bool pairs_is_pseudonym(const struct pairs *p, enum domain domain, unsigned bits,
                        struct pair_value value)
{
    uint64_t key[2];

    hash(domain, bits, value, key);
    return find(&p->back, key) || !is_sampled(&p->back, key);
}
