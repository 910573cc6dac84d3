/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "anon/rewrite.h"
#include "flow/message.h"
#include "wire/rpc.h"
#include "wire/walk.h"

enum { GSS_DATA = 0, GSS_INTEGRITY = 2 }; /* RFC 2203 s5 */

void rewriter_init(struct rewriter *r, struct mapping *mapping, const struct policy *policy)
{
    memset(r, 0, sizeof(*r));
    r->mapping = mapping;
    r->policy = policy;
    r->hides_verifier_times = mapping_hides_verifier_times(mapping);
}

void rewriter_free(struct rewriter *r)
{
    buf_free(&r->out);
    verifier_times_free(&r->verifier_times);
}

static inline uint32_t padded(uint32_t len)
{
    return (len + 3) & ~3u;
}

/* Room for |len| bytes behind what is there; NULL: no memory, noted. */
static inline uint8_t *room(struct rewriter *r, size_t len)
{
    if (r->out.cap - r->out.len < len && buf_reserve(&r->out, len) < 0) {
        r->failed = true;
        return NULL;
    }
    r->out.len += len;
    return r->out.data + r->out.len - len;
}

static inline void put_u32(struct rewriter *r, uint32_t value)
{
    uint8_t *p = room(r, 4);

    if (p)
        store_be32(p, value);
}

static inline void put_u64(struct rewriter *r, uint64_t value)
{
    uint8_t *p = room(r, 8);

    if (p)
        store_be64(p, value);
}

static void put_padded(struct rewriter *r, const uint8_t *data, uint32_t len)
{
    uint8_t *p = room(r, padded(len));

    if (!p)
        return;
    if (len)
        memcpy(p, data, len);
    memset(p + len, 0, padded(len) - len);
}

static inline void count(struct rewriter *r, enum field_class cls, enum rule rule)
{
    *(rule == RULE_KEEP ? &r->kept[cls] : &r->changed[cls]) += 1;
}

static uint32_t number(struct rewriter *r, enum field_class cls, uint32_t value)
{
    enum rule rule = r->policy->rules[cls];

    count(r, cls, rule);
    return rule == RULE_KEEP ? value : (uint32_t)mapping_number(r->mapping, cls, rule, 32, value);
}

/* A string or opaque by its rule, with its length before it. */
static void put_bytes(struct rewriter *r, enum field_class cls, enum rule rule, bool text,
                      uint32_t max, const uint8_t *data, uint32_t len)
{
    struct bytes mapped;

    count(r, cls, rule);
    if (cls == CLASS_DATA && rule == RULE_ZERO) {
        uint8_t *p;
        put_u32(r, len);
        p = room(r, padded(len));
        if (p)
            memset(p, 0, padded(len));
        return;
    }
    if (mapping_bytes(r->mapping, cls, rule, text, max, data, len, &mapped, r->err) < 0) {
        r->failed = true;
        return;
    }
    put_u32(r, mapped.len);
    put_padded(r, mapped.data, mapped.len);
}

/* --- the header --- */

static void put_opaque_auth(struct rewriter *r, const struct rpc_auth *auth)
{
    enum rule rule = r->policy->extras[EXTRA_CREDENTIAL];

    put_u32(r, auth->flavor);
    put_bytes(r, CLASS_OPAQUE, rule, false, RPC_AUTH_BODY_MAX, auth->body.data, auth->body.len);
}

/* AUTH_SYS, RFC 5531 appendix A. */
static void put_auth_sys(struct rewriter *r, const struct rpc_auth *auth)
{
    size_t at;

    put_u32(r, auth->flavor);
    put_u32(r, 0); /* the length, below */
    at = r->out.len;
    put_u32(r, mapping_extra(r->mapping, EXTRA_STAMP, auth->stamp));
    put_bytes(r, CLASS_HOST, r->policy->rules[CLASS_HOST], true, 255, auth->machine.data,
              auth->machine.len);
    put_u32(r, number(r, CLASS_UID, auth->uid));
    put_u32(r, number(r, CLASS_GID, auth->gid));
    put_u32(r, auth->gid_count);
    for (uint32_t i = 0; i < auth->gid_count; i++)
        put_u32(r, number(r, CLASS_GID, auth->gids[i]));
    if (!r->failed)
        store_be32(r->out.data + at - 4, (uint32_t)(r->out.len - at));
}

/* RFC 2203 s5.2.2; RFC 5403 and RFC 7861 have the same. */
static void put_gss(struct rewriter *r, const struct rpc_auth *auth)
{
    enum rule rule = r->policy->extras[EXTRA_CREDENTIAL];
    size_t at;

    put_u32(r, auth->flavor);
    put_u32(r, 0);
    at = r->out.len;
    put_u32(r, auth->gss_version);
    put_u32(r, auth->gss_procedure);
    put_u32(r, auth->gss_sequence);
    put_u32(r, auth->gss_service);
    put_bytes(r, CLASS_OPAQUE, rule, false, RPC_AUTH_BODY_MAX - 20, auth->gss_context.data,
              auth->gss_context.len);
    if (!r->failed)
        store_be32(r->out.data + at - 4, (uint32_t)(r->out.len - at));
}

static void put_call_header(struct rewriter *r, const struct rpc_header *h)
{
    put_u32(r, h->rpc_version);
    put_u32(r, h->program);
    put_u32(r, h->version);
    put_u32(r, h->procedure);
    if (h->credential.flavor == RPC_AUTH_SYS && h->credential.valid)
        put_auth_sys(r, &h->credential);
    else if (h->credential.flavor == RPC_GSS && h->credential.valid)
        put_gss(r, &h->credential);
    else
        put_opaque_auth(r, &h->credential);
    put_opaque_auth(r, &h->verifier);
}

static void put_reply_header(struct rewriter *r, const struct rpc_header *h)
{
    bool denied = h->status == RPC_MISMATCH || h->status == RPC_AUTH_ERROR;

    put_u32(r, denied);
    if (denied) {
        put_u32(r, h->status == RPC_AUTH_ERROR);
    } else {
        put_opaque_auth(r, &h->verifier);
        put_u32(r, h->status);
    }
    if (h->status == RPC_MISMATCH || h->status == RPC_PROG_MISMATCH) {
        put_u32(r, h->detail[0]);
        put_u32(r, h->detail[1]);
    } else if (denied) {
        put_u32(r, h->detail[0]);
    }
}

/* Of a header that was cut: what must be there for it to be known as a message. */
static void put_cut_header(struct rewriter *r, const struct rpc_header *h)
{
    if (h->direction == RPC_CALL) {
        put_u32(r, h->rpc_version);
        put_u32(r, h->program);
        put_u32(r, h->version);
        put_u32(r, h->procedure);
    }
}

/* --- the body --- */

struct body {
    struct rewriter *r;
    uint64_t end;                  /* on the wire: behind the last value that was written */
    uint64_t missing;              /* bytes of a cut value that the new message claims */
    uint32_t seconds, seconds_end; /* of a time whose fraction may come next */
};

/* A value of which only a part was captured: its length, and of contents as much as there was. */
static void put_cut_bytes(struct body *b, const struct visit *v, enum rule rule)
{
    struct rewriter *r = b->r;
    uint32_t len = v->full_len;
    bool as_it_was = rule != RULE_TOKEN;

    count(r, v->field->cls, rule);
    if (v->field->kind != XDR_FIXED) {
        if (!as_it_was)
            len = TOKEN_LEN;
        put_u32(r, len);
    }
    b->missing = padded(len);
    if (rule == RULE_ZERO && v->field->cls == CLASS_DATA) {
        uint8_t *p = room(r, v->len);
        if (p)
            memset(p, 0, v->len);
        b->missing -= v->len;
    }
}

static void put_fixed(struct rewriter *r, const struct visit *v, enum rule rule)
{
    struct bytes mapped;

    count(r, v->field->cls, rule);
    if (v->field->in_times && r->hides_verifier_times && v->len == 8 &&
        verifier_times_add(&r->verifier_times, v->data) < 0)
        r->failed = true;
    if (v->len == 8 && rule != RULE_NOISE && rule != RULE_TOKEN && rule != RULE_SAME) {
        put_u64(r, rule == RULE_KEEP
                       ? load_be64(v->data)
                       : mapping_number(r->mapping, v->field->cls, rule, 64, load_be64(v->data)));
        return;
    }
    if (rule == RULE_TOKEN)
        rule = RULE_KEYED; /* its length is the protocol's */
    if (mapping_bytes(r->mapping, v->field->cls, rule, false, 0, v->data, v->len, &mapped, r->err) <
            0 ||
        mapped.len != v->len) {
        r->failed = true;
        return;
    }
    put_padded(r, mapped.data, mapped.len);
}

static void put_number(struct rewriter *r, const struct visit *v, enum rule rule)
{
    enum field_class cls = v->field->cls;
    uint64_t value = v->value;
    bool wide = v->field->kind == XDR_U64;

    count(r, cls, rule);
    if (rule != RULE_KEEP)
        value =
            mapping_number(r->mapping, cls, rule, wide ? 64 : 32, wide ? value : (uint32_t)value);
    if (wide)
        put_u64(r, value);
    else
        put_u32(r, (uint32_t)value);
}

/* Over the last number but |back|. */
static void put_again(struct rewriter *r, size_t back, uint32_t value)
{
    if (!r->failed)
        store_be32(r->out.data + r->out.len - 4 - 4 * back, value);
}

static void put_verifier_time(struct rewriter *r, size_t back, enum verifier_order order,
                              uint32_t number)
{
    put_again(r, back, mapping_verifier_time(r->mapping, order, number));
}

/* A fraction was written behind seconds: what is a verifier gets the pseudonym of that. */
static void put_fraction(struct body *b, uint32_t nsec)
{
    struct rewriter *r = b->r;
    enum verifier_order nsec_order,
        order = verifier_times_judge(&r->verifier_times, b->seconds, nsec, &nsec_order);

    if (order)
        put_verifier_time(r, 1, order, b->seconds);
    if (nsec_order)
        put_verifier_time(r, 0, nsec_order, nsec);
}

static inline void put_time(struct body *b, const struct visit *v)
{
    struct rewriter *r = b->r;

    if (v->field->cls == CLASS_TIME) {
        b->seconds = (uint32_t)v->value;
        b->seconds_end = v->offset + 4;
    } else if (b->seconds_end == v->offset &&
               verifier_times_maybe(&r->verifier_times, b->seconds, (uint32_t)v->value)) {
        put_fraction(b, (uint32_t)v->value);
    }
}

/* Where a message was cut behind seconds, their fraction is taken for 0. */
static void end_time(struct body *b)
{
    enum verifier_order order = verifier_times_find(&b->r->verifier_times, b->seconds);

    if (b->seconds_end && b->end == b->seconds_end && order)
        put_verifier_time(b->r, 0, order, b->seconds);
}

static int visit(void *ctx, const struct visit *v)
{
    struct body *b = ctx;
    struct rewriter *r = b->r;
    enum rule rule;

    if (v->whole)
        return 0;
    b->end = (uint64_t)v->offset + padded(v->full_len);
    switch (v->field->kind) {
    case XDR_U32:
    case XDR_I32:
    case XDR_U64:
    case XDR_ENUM:
        put_number(r, v, policy_rule(r->policy, v->walk, v->field));
        if (r->hides_verifier_times &&
            (v->field->cls == CLASS_TIME || v->field->cls == CLASS_INTERVAL))
            put_time(b, v);
        break;
    case XDR_FIXED:
    case XDR_OPAQUE:
    case XDR_STRING:
        rule = policy_rule(r->policy, v->walk, v->field);
        if (v->cut)
            put_cut_bytes(b, v, rule);
        else if (v->field->kind == XDR_FIXED)
            put_fixed(r, v, rule);
        else
            put_bytes(r, v->field->cls, rule, v->field->kind == XDR_STRING, v->field->max, v->data,
                      v->len);
        break;
    default: /* what the structure is made of: booleans, discriminants, counts */
        put_u32(r, (uint32_t)v->value);
        break;
    }
    return r->failed;
}

static uint32_t grain(const struct rewriter *r, uint64_t len)
{
    if (policy_hides_lengths(r->policy))
        len = (len + CUT_GRAIN - 1) / CUT_GRAIN * CUT_GRAIN;
    return len < MESSAGE_WIRE_MAX ? (uint32_t)len : MESSAGE_WIRE_MAX;
}

/* Ends the message here, with |missing| bytes more and |known| whose number is not to be rounded.
 */
static void end_cut(const struct rewriter *r, uint64_t missing, uint64_t known,
                    struct rewritten *out)
{
    uint64_t len = r->out.len + known + grain(r, missing);

    out->cap_len = (uint32_t)r->out.len;
    out->wire_len = len < MESSAGE_WIRE_MAX ? (uint32_t)len : MESSAGE_WIRE_MAX;
    if (out->wire_len < out->cap_len)
        out->wire_len = out->cap_len;
    if (out->wire_len == out->cap_len) /* only padding was missing; it must not read as whole */
        out->cap_len -= 4;
}

static void put_body(struct rewriter *r, const struct type *type, const struct message *m,
                     const struct rpc_header *h, struct rewritten *out)
{
    struct body b = { .r = r };
    const struct visitor visitor = { visit, &b, 0 };
    uint32_t cap_len = h->body < m->cap_len ? m->cap_len - h->body : 0;
    struct walk w;
    enum walk_result result;

    if (cap_len > h->body_len)
        cap_len = h->body_len;
    result =
        walk(&w, type, m->data + (cap_len ? h->body : 0), cap_len, h->body_len, false, &visitor);
    end_time(&b);
    if (result == WALK_MALFORMED && w.surplus) {
        put_u32(r, 0);
        out->outcome = REWRITE_MALFORMED;
    } else if (result == WALK_MALFORMED) {
        end_cut(r, h->body_len > b.end ? h->body_len - b.end : 4, 0, out);
        out->outcome = REWRITE_MALFORMED;
    } else if (result == WALK_TRUNCATED) {
        end_cut(r, h->body_len > b.end ? h->body_len - b.end : 0, b.missing, out);
        out->outcome = REWRITE_PARTIAL;
    }
}

/* RFC 2203 s5.3.2.2: length and sequence number before the body, a checksum behind it. */
static bool is_wrapped(const struct rpc_header *h, const struct rpc_auth *credential)
{
    return !h->body_protected && credential && credential->flavor == RPC_GSS &&
           credential->gss_procedure == GSS_DATA && credential->gss_service == GSS_INTEGRITY;
}

static void put_checksum(struct rewriter *r, const struct message *m, const struct rpc_header *h)
{
    uint64_t at = (uint64_t)h->body + padded(h->body_len);
    uint32_t len = 0;

    if (at + 4 <= m->cap_len)
        len = load_be32(m->data + at);
    if (len > RPC_AUTH_BODY_MAX || at + 4 + len > m->cap_len)
        len = 0;
    put_bytes(r, CLASS_OPAQUE, r->policy->extras[EXTRA_CREDENTIAL], false, 0,
              m->data + (len ? at + 4 : 0), len);
}

/* Most calls begin with a handle: fetching its pseudonym takes as long as writing the header. */
static void expect_handle(struct rewriter *r, const struct message *m, const struct rpc_header *h)
{
    uint32_t len;

    if (h->direction != RPC_CALL || (uint64_t)h->body + 4 > m->cap_len)
        return;
    len = load_be32(m->data + h->body);
    if (len <= m->cap_len - h->body - 4)
        mapping_expect_handle(r->mapping, m->data + h->body + 4, len);
}

static void put_message(struct rewriter *r, const struct engine_tapped *t, bool header_cut,
                        struct rpc_header *h, struct rewritten *out)
{
    const struct message *m = t->message;
    bool call = h->direction == RPC_CALL;
    const struct rpc_auth *credential = call ? &h->credential : t->credential;
    size_t at;

    put_u32(r, mapping_extra(r->mapping, EXTRA_XID, h->xid));
    put_u32(r, h->direction);
    if (header_cut) {
        put_cut_header(r, h);
        end_cut(r, m->wire_len > r->out.len ? m->wire_len - r->out.len : 4, 0, out);
        out->outcome = REWRITE_PARTIAL;
        return;
    }
    if (call)
        put_call_header(r, h);
    else
        put_reply_header(r, h);
    if (!call && credential)
        rpc_reply_in_clear(m->data, m->cap_len, credential, h);
    if (!call && h->status != RPC_SUCCESS)
        return;
    if (!t->procedure || h->body_protected || (!call && !credential)) {
        if (m->wire_len > h->body)
            end_cut(r, m->wire_len - h->body, 0, out);
        out->outcome = m->wire_len > h->body ? REWRITE_UNREAD : REWRITE_WHOLE;
        return;
    }
    if (!is_wrapped(h, credential)) {
        put_body(r, call ? t->procedure->arguments : t->procedure->result, m, h, out);
        return;
    }
    put_u32(r, 0); /* the length, below */
    at = r->out.len;
    put_u32(r, call ? h->credential.gss_sequence : load_be32(m->data + h->body - 4));
    put_body(r, call ? t->procedure->arguments : t->procedure->result, m, h, out);
    if (r->failed)
        return;
    store_be32(r->out.data + at - 4,
               out->wire_len ? out->wire_len - (uint32_t)at : (uint32_t)(r->out.len - at));
    if (!out->wire_len)
        put_checksum(r, m, h);
}

int rewrite_message(struct rewriter *r, const struct engine_tapped *t, struct rewritten *out,
                    struct err *err)
{
    const struct message *m = t->message;
    struct rpc_header h;
    enum rpc_result result = rpc_parse(m->data, m->cap_len, m->wire_len, &h);

    *out = (struct rewritten){ .outcome = REWRITE_WHOLE };
    r->out.len = 0;
    r->failed = false;
    r->err = err;
    if (result == RPC_NOT) {
        out->outcome = REWRITE_DROPPED;
    } else {
        if (result != RPC_TRUNCATED)
            expect_handle(r, m, &h);
        put_message(r, t, result == RPC_TRUNCATED, &h, out);
        if (out->outcome == REWRITE_UNREAD && r->policy->unread == UNREAD_DROP)
            out->outcome = REWRITE_DROPPED;
    }
    if (r->failed)
        return err_set(err, ERR_SYSTEM, "out of memory for a message");
    out->data = r->out.data;
    if (!out->wire_len)
        out->cap_len = out->wire_len = (uint32_t)r->out.len;
    if (out->cap_len > MESSAGE_MAX) { /* tokens longer than names; no reader keeps as much */
        out->cap_len = MESSAGE_MAX;
        out->outcome = REWRITE_PARTIAL;
    }
    return 0;
}
