/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/rewrite.c
 *
 * A client's arguments for the SUT: its handles, cookies, verifiers and guards in the places of the
 * reference's.  The fields' roles and classes say where these stand.  live/player/fill_in.c does
 * the same for arguments whose places a dump has already.
 */
#include "shadow/shadow_parts.h"
#include "wire/walk.h"

enum { PIECES_MAX = 8 };

/* Bytes of the body that are replaced. */
struct piece {
    uint32_t from, end;
    bool is_handle; /* with its length before it, and its padding */
    struct bytes by;
};

struct rewriting {
    struct shadow *shadow;
    const struct request *request;
    const struct listing *listing;
    struct piece pieces[PIECES_MAX];
    uint32_t count;
    bool in_guard;
    uint8_t cookie[8], ctime[8], wide[4];
    enum shadow_fate fate;
};

static int replace(struct rewriting *g, struct piece piece)
{
    if (g->count < PIECES_MAX)
        g->pieces[g->count++] = piece;
    return 0;
}

static int replace_handle(struct rewriting *g, const struct visit *v)
{
    const struct effect *e = effect_of(g->request);
    uint32_t id = v->field->role & ROLE_PARENT2 ? e->parent2 : e->object;
    const struct mirror_object *object = id ? mirror_at(g->shadow->mirror, id) : NULL;

    if (!object || !object->sut_handle_len) {
        g->fate = FATE_NOT_SYNCHRONIZED;
        return 1;
    }
    return replace(g, (struct piece){ v->offset - 4, v->offset + xdr_padded(v->len), true,
                                      mirror_sut_handle(g->shadow->mirror, object) });
}

static int on_field(void *ctx, const struct visit *v)
{
    struct rewriting *g = ctx;
    const struct field *f = v->field;
    const struct piece eight = { .from = v->offset, .end = v->offset + 8 };

    if (v->whole)
        return 0;
    if (f->cls == CLASS_HANDLE && f->role & (ROLE_OBJECT | ROLE_PARENT2))
        return replace_handle(g, v);
    if (f->cls == CLASS_COOKIE && g->listing)
        return replace(g, (struct piece){ eight.from, eight.end, false, { g->cookie, 8 } });
    if (f->cls == CLASS_COUNT && sut_of(g->request)->more)
        return replace(g, (struct piece){ v->offset, v->offset + 4, false, { g->wide, 4 } });
    if (f->cls == CLASS_VERIFIER && g->listing)
        return replace(
            g, (struct piece){ eight.from, eight.end, false, { g->listing->sut_verifier, 8 } });
    if (f->cls == CLASS_BOOLEAN && f->role & ROLE_SETS) {
        g->in_guard = v->value;
    } else if (f->cls == CLASS_TIME && g->in_guard) {
        g->in_guard = false;
        return replace(g, (struct piece){ eight.from, eight.end, false, { g->ctime, 8 } });
    }
    return 0;
}

/* Finds where the listing goes on.  False: nobody knows. */
static bool find_place(struct rewriting *g)
{
    const struct effect *e = effect_of(g->request);
    struct listing_key key = listings_key(g->request, e->asked.cookie);

    if (sut_of(g->request)->more && sut_of(g->request)->more->stage == MORE_PARTS)
        g->listing = &sut_of(g->request)->more->at;
    else if (effect_action(e) != ACTION_LIST || !e->asked.cookie)
        return true;
    else
        g->listing = listings_find(&g->shadow->listings, &key);
    if (g->listing)
        store_be64(g->cookie, g->listing->sut_cookie);
    return g->listing;
}

static void put_pieces(const struct rewriting *g, struct xdr_put *put)
{
    struct bytes body = effect_of(g->request)->arguments_body;
    uint32_t at = 0;

    for (uint32_t i = 0; i < g->count; i++) {
        const struct piece *p = &g->pieces[i];

        xdr_put_bytes(put, body.data + at, p->from - at);
        if (p->is_handle)
            xdr_put_opaque(put, p->by);
        else
            xdr_put_bytes(put, p->by.data, p->by.len);
        at = p->end;
    }
    xdr_put_bytes(put, body.data + at, body.len - at);
}

enum shadow_fate rewrite(struct shadow *s, const struct request *r, struct xdr_put *put)
{
    const struct effect *e = effect_of(r);
    struct rewriting g = { .shadow = s, .request = r, .fate = FATE_COMPARED };
    const struct visitor visitor = { .visit = on_field, .ctx = &g };
    struct walk w;

    if (!find_place(&g))
        return FATE_LISTING;
    store_be32(g.wide, MORE_COUNT);
    store_be32(g.ctime, sut_of(r)->ctime.seconds);
    store_be32(g.ctime + 4, sut_of(r)->ctime.nseconds);
    walk(&w, e->procedure->arguments, e->arguments_body.data, e->arguments_body.len,
         e->arguments_length, false, &visitor);
    if (g.fate == FATE_COMPARED)
        put_pieces(&g, put);
    return g.fate;
}
