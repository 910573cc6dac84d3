/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/credential.h"
#include "base/digest.h"

#include <stdlib.h>

int credentials_init(struct credentials *c, const struct sink *sink, struct err *err)
{
    memset(c, 0, sizeof(*c));
    c->sink = *sink;
    c->all = malloc(CREDENTIALS_MAX * sizeof(*c->all));
    return c->all ? 0 : err_memory(err, "credentials");
}

void credentials_free(struct credentials *c)
{
    free(c->all);
    table_free(&c->by_body);
    arena_free(&c->arena);
    memset(c, 0, sizeof(*c));
}

static uint64_t credential_hash(uint32_t flavor, uint32_t service, struct bytes body)
{
    return XXH3_64bits_withSeed(body.data, body.len, (uint64_t)flavor << 32 | service);
}

static uint32_t find(const struct credentials *c, uint32_t flavor, uint32_t service,
                     struct bytes body, uint64_t hash)
{
    uint32_t at, i;

    for (i = table_first(&c->by_body, hash, &at); i != TABLE_NONE;
         i = table_next(&c->by_body, hash, &at)) {
        const struct credential *x = &c->all[i];
        if (x->flavor == flavor && x->service == service && x->body_len == body.len &&
            !memcmp(x->body, body.data, body.len))
            return x->id;
    }
    return 0;
}

/* |like|: flavor, service, body and its length. */
static int add(struct credentials *c, const struct credential *like, uint64_t hash, uint32_t id,
               struct err *err)
{
    struct credential x = *like;

    if (c->count == CREDENTIALS_MAX) {
        table_clear(&c->by_body);
        arena_free(&c->arena);
        c->count = 0;
    }
    x.id = id;
    x.body = arena_copy(&c->arena, like->body, like->body_len);
    if (!x.body || table_add(&c->by_body, hash, c->count) < 0)
        return err_memory(err, "credentials");
    c->all[c->count++] = x;
    c->last_id = id > c->last_id ? id : c->last_id;
    return 0;
}

uint32_t credential_id(struct credentials *c, const struct rpc_auth *auth, struct err *err)
{
    static const uint8_t none;
    bool gss = auth->flavor == RPC_GSS && auth->valid;
    struct bytes body = gss ? auth->gss_context : auth->body;
    uint32_t service = gss ? auth->gss_service : 0;
    uint8_t gids[RPC_GIDS_MAX * 4];
    struct record r = { .kind = RECORD_CREDENTIAL };
    uint64_t hash;
    uint32_t id;

    if (!body.data)
        body.data = &none;
    hash = credential_hash(auth->flavor, service, body);
    id = find(c, auth->flavor, service, body, hash);
    if (id)
        return id;
    if (add(c,
            &(struct credential){ .body = body.data,
                                  .body_len = body.len,
                                  .flavor = auth->flavor,
                                  .service = service },
            hash, c->last_id + 1, err) < 0)
        return 0;
    r.credential.id = c->last_id;
    r.credential.flavor = auth->flavor;
    r.credential.valid = auth->valid;
    r.credential.gss_service = service;
    r.credential.body = body;
    if (auth->flavor == RPC_AUTH_SYS && auth->valid) {
        for (uint32_t i = 0; i < auth->gid_count; i++)
            store_be32(gids + 4 * i, auth->gids[i]);
        r.credential.uid = auth->uid;
        r.credential.gid = auth->gid;
        r.credential.stamp = auth->stamp;
        r.credential.gids = (struct bytes){ gids, auth->gid_count * 4 };
        r.credential.machine = auth->machine;
    }
    return c->sink.put(c->sink.ctx, &r, err) == 0 ? c->last_id : 0;
}

int credentials_learn(struct credentials *c, const struct record_credential *r, struct err *err)
{
    const struct credential like = { .body = r->body.data,
                                     .body_len = r->body.len,
                                     .flavor = r->flavor,
                                     .service = r->gss_service };

    return add(c, &like, credential_hash(r->flavor, r->gss_service, r->body), r->id, err);
}
