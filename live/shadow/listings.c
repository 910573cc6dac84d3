/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/listings.c
 *
 * Where the SUT's listing of a directory goes on when a client goes on with the reference's: behind
 * as many entries, or behind all that the SUT has given, after the last one.  The latest LISTINGS
 * places are known.
 */
#include "shadow/shadow_parts.h"

#include <stdlib.h>

enum { COOKIES_MAX = 4096 /* of a reply */ };

static uint32_t hash_of(uint32_t object, uint64_t cookie)
{
    return (
        uint32_t)((cookie * UINT64_C(0x9e3779b97f4a7c15) ^ object * UINT64_C(0xc2b2ae3d27d4eb4f)) >>
                  32);
}

struct listing_key listings_key(const struct request *r, uint64_t cookie)
{
    const struct effect *e = effect_of(r);
    struct bytes body = e->arguments_body;
    /* at their end READDIR and READDIRPLUS say how much they want */
    uint32_t most = body.len >= 4 ? load_be32(body.data + body.len - 4) : 0;

    return (struct listing_key){ e->object, rest_of(r)->flow, cookie,
                                 most << 8 | e->procedure->number };
}

/* How well the place fits; a client may go on over another connection. */
static int fit(const struct listing *to, const struct listing_key *key)
{
    return 2 * (to->flow == key->flow) + (to->form == key->form);
}

static struct listing *find(const struct listings *l, const struct listing_key *key)
{
    const struct index_place *place;
    uint32_t hash = hash_of(key->object, key->cookie), at;
    struct listing *found = NULL;

    for (place = index_first(&l->by_cookie, hash, &at); place;
         place = index_next(&l->by_cookie, hash, &at)) {
        struct listing *to = &l->ring[place->slot];
        int better;

        if (to->object != key->object || to->cookie != key->cookie)
            continue;
        better = found ? fit(to, key) - fit(found, key) : 1;
        if (better > 0 || (better == 0 && to->begin.begin > found->begin.begin))
            found = to;
    }
    return found;
}

const struct listing *listings_find(const struct listings *l, const struct listing_key *key)
{
    return find(l, key);
}

static int begin(struct listings *l, struct err *err)
{
    if (l->ring)
        return 0;
    l->ring = calloc(LISTINGS, sizeof(*l->ring));
    if (!l->ring || index_reserve(&l->by_cookie, LISTINGS) < 0)
        return err_memory(err, "listings");
    return 0;
}

static struct listing *take_place(struct listings *l, const struct listing_key *key)
{
    struct listing *to = find(l, key);

    if (to && to->flow == key->flow && to->form == key->form)
        return to;
    to = &l->ring[l->next];
    if (to->object)
        index_take_out(&l->by_cookie, hash_of(to->object, to->cookie), l->next);
    to->object = key->object;
    to->cookie = key->cookie;
    to->flow = key->flow;
    to->form = key->form;
    index_put(&l->by_cookie, hash_of(key->object, key->cookie), l->next);
    l->next = (l->next + 1) % LISTINGS;
    return to;
}

struct cookies {
    uint64_t list[COOKIES_MAX];
    uint32_t count;
};

static int on_entry(void *ctx, const struct effect_entry *entry)
{
    struct cookies *c = ctx;

    if (c->count < COOKIES_MAX)
        c->list[c->count++] = entry->cookie;
    return 0;
}

/* The listing's verifier, the first one of its result. */
static int on_verifier(void *ctx, const struct visit *v)
{
    if (v->whole || v->field->cls != CLASS_VERIFIER || v->len != 8)
        return 0;
    memcpy(ctx, v->data, 8);
    return 1;
}

void listings_verifier(const struct effect *sut, uint8_t to[8])
{
    const struct visitor visitor = { .visit = on_verifier, .ctx = to };
    struct walk w;

    memset(to, 0, 8);
    walk(&w, sut->procedure->result, sut->result_body.data, sut->result_body.len,
         sut->result_body.len, false, &visitor);
}

static void note_all(struct listings *l, struct request *r, const struct effect *sut,
                     struct cookies c[SIDES])
{
    const struct effect *e = effect_of(r);
    struct listing_key key = listings_key(r, e->asked.cookie);
    uint64_t begun = 0; /* where the SUT's listing goes on if it gave nothing */
    uint8_t verifier[8];
    const struct listing *from;
    struct list_begin begin;

    listings_verifier(sut, verifier);
    from = e->asked.cookie ? find(l, &key) : NULL;
    if (from)
        begun = from->sut_cookie;
    if (from && from->flow == rest_of(r)->flow) /* another client's listing began at another time */
        rest_of(r)->sut->list = from->begin;
    if (!e->asked.cookie)
        begin = (struct list_begin){ r->begin, rest_of(r)->sut->called };
    else
        begin = rest_of(r)->sut->list;
    for (uint32_t i = 0; i < c[REF].count; i++) {
        bool is_last = i + 1 == c[REF].count;
        uint32_t at = is_last || i >= c[SUT].count ? c[SUT].count - 1 : i;
        struct listing *to;

        if (!c[REF].list[i])
            continue;
        key.cookie = c[REF].list[i];
        to = take_place(l, &key);
        to->sut_cookie = c[SUT].count ? c[SUT].list[at] : begun;
        memcpy(to->sut_verifier, verifier, sizeof(verifier));
        to->begin = begin;
    }
}

int listings_note(struct listings *l, struct request *r, const struct effect *sut, struct err *err)
{
    const struct effect *e = effect_of(r);
    struct cookies *c;

    if (!e->succeeded || !sut->succeeded)
        return 0;
    if (begin(l, err) < 0)
        return -err->code;
    c = calloc(SIDES, sizeof(*c));
    if (!c)
        return err_memory(err, "listings");
    effect_entries(e, on_entry, &c[REF]);
    effect_entries(sut, on_entry, &c[SUT]);
    note_all(l, r, sut, c);
    free(c);
    return 0;
}

void listings_free(struct listings *l)
{
    free(l->ring);
    index_free(&l->by_cookie);
    *l = (struct listings){ 0 };
}
