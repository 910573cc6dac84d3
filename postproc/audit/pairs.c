/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/pairs.h"
#include "base/bytes.h"
#include "base/digest.h"

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
    return err_set(err, ERR_SYSTEM, "out of memory for the table of pseudonyms");
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
    if (side->count == side->cap) {
        uint32_t cap = side->cap ? side->cap * 2 : 1024;
        struct pair_entry *grown = realloc(side->all, cap * sizeof(*grown));

        if (!grown)
            return no_memory(err);
        side->all = grown;
        side->cap = cap;
    }
    if (table_add(&side->by_key, entry->key[0], side->count) < 0)
        return no_memory(err);
    side->all[side->count++] = *entry;
    while (side->count > max)
        if (thin_out(side, err) < 0)
            return -ERR_SYSTEM;
    return 0;
}

int pairs_add(struct pairs *p, enum domain domain, unsigned bits, struct pair_value from,
              struct pair_value to, bool kept, uint64_t frame, struct pair_result *result,
              struct err *err)
{
    struct pair_entry entry = { .frame = frame,
                                .uses = 1,
                                .domain = (uint8_t)domain,
                                .bits = (uint8_t)bits,
                                .zero = bytes_are_zeros(to.data, to.len),
                                .kept = kept,
                                .short_value = bits ? bits < 32 : to.len < 7 };
    struct pair_entry turned = entry, *known;
    int rc = 0;

    *result = (struct pair_result){ 0 };
    hash(domain, bits, from, entry.key);
    hash(domain, bits, to, entry.other);
    if (is_sampled(&p->forward, entry.key)) {
        known = find(&p->forward, entry.key);
        if (!known) {
            result->is_new = true;
            rc = insert(&p->forward, p->max, &entry, err);
        } else {
            known->uses++;
            if (!same(known->other, entry.other)) {
                result->contradicts = true;
                result->frame = known->frame;
            }
        }
    }
    memcpy(turned.key, entry.other, sizeof(turned.key));
    memcpy(turned.other, entry.key, sizeof(turned.other));
    if (rc < 0 || !is_sampled(&p->back, turned.key))
        return rc;
    known = find(&p->back, turned.key);
    if (!known)
        return insert(&p->back, p->max, &turned, err);
    known->uses++;
    if (!same(known->other, turned.other)) {
        *(entry.zero ? &result->collides_in_zero : &result->collides) = true;
        if (!result->contradicts)
            result->frame = known->frame;
    }
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
