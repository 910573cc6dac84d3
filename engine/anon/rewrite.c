/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/rewrite.c
 *
 * Rewrites messages for an anonymized capture.  The tables take RPC header and body apart, and each
 * value is written by the policy's rule for it.  The contract is in rewrite.h.
 */
#include "anon/rewrite.h"
#include "flow/message.h"
#include "wire/body.h"
#include "wire/rpc_put.h"

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

/* Bytes by their rule, valid until the next ones are mapped. */
static struct bytes mapped(struct rewriter *r, enum field_class cls, enum rule rule, bool text,
                           uint32_t max, struct bytes value)
{
    struct bytes made = { 0 };

    count(r, cls, rule);
    if (mapping_bytes(r->mapping, cls, rule, text, max, value.data, value.len, &made, r->err) < 0)
        xdr_put_fail(&r->put, XDR_PUT_NO_MEMORY);
    return made;
}

/* A string or opaque by its rule, with its length before it. */
static void put_mapped(struct rewriter *r, enum field_class cls, enum rule rule, bool text,
                       uint32_t max, const uint8_t *data, uint32_t len)
{
    struct bytes mapped;

    count(r, cls, rule);
    if (cls == CLASS_DATA && rule == RULE_ZERO) {
        xdr_put_opaque(&r->put, (struct bytes){ NULL, len });
        return;
    }
    if (mapping_bytes(r->mapping, cls, rule, text, max, data, len, &mapped, r->err) < 0) {
        xdr_put_fail(&r->put, XDR_PUT_NO_MEMORY);
        return;
    }
    xdr_put_opaque(&r->put, mapped);
}

/* --- the header --- */

/* An authenticator as it is, but for its body. */
static void put_opaque_auth(struct rewriter *r, const struct rpc_auth *auth)
{
    enum rule rule = r->policy->extras[EXTRA_CREDENTIAL];

    xdr_put_u32(&r->put, auth->flavor);
    put_mapped(r, CLASS_OPAQUE, rule, false, RPC_AUTH_BODY_MAX, auth->body.data, auth->body.len);
}

/* AUTH_SYS, RFC 5531 appendix A. */
static void put_auth_sys(struct rewriter *r, const struct rpc_auth *auth)
{
    struct rpc_auth made = { .flavor = auth->flavor, .valid = true };

    made.stamp = mapping_extra(r->mapping, EXTRA_STAMP, auth->stamp);
    made.machine = mapped(r, CLASS_HOST, r->policy->rules[CLASS_HOST], true, 255, auth->machine);
    made.uid = number(r, CLASS_UID, auth->uid);
    made.gid = number(r, CLASS_GID, auth->gid);
    made.gid_count = auth->gid_count;
    for (uint32_t i = 0; i < auth->gid_count; i++)
        made.gids[i] = number(r, CLASS_GID, auth->gids[i]);
    rpc_put_auth(&r->put, &made);
}

/* RFC 2203 s5.2.2 */
static void put_gss(struct rewriter *r, const struct rpc_auth *auth)
{
    struct rpc_auth made = *auth;

    made.gss_context = mapped(r, CLASS_OPAQUE, r->policy->extras[EXTRA_CREDENTIAL], false,
                              RPC_AUTH_BODY_MAX - 20, auth->gss_context);
    rpc_put_auth(&r->put, &made);
}

static void put_call_header(struct rewriter *r, const struct rpc_header *h)
{
    rpc_put_target(&r->put, h);
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
    struct rpc_auth made = { .flavor = h->verifier.flavor };

    if (h->status != RPC_MISMATCH && h->status != RPC_AUTH_ERROR)
        made.body = mapped(r, CLASS_OPAQUE, r->policy->extras[EXTRA_CREDENTIAL], false,
                           RPC_AUTH_BODY_MAX, h->verifier.body);
    rpc_put_reply_state(&r->put, h, &made);
}

/* Of a header that was cut: what must be there for it to be known as a message. */
static void put_cut_header(struct rewriter *r, const struct rpc_header *h)
{
    if (h->direction == RPC_CALL)
        rpc_put_target(&r->put, h);
}

/* --- the body --- */

struct body {
    struct rewriter *r;
    uint64_t end;                  /* on the wire: behind the last value that was written */
    uint64_t missing;              /* bytes of a cut value that the new message claims */
    uint32_t seconds, seconds_end; /* of a time whose fraction may come next */
};

/* Writes a value that was captured only in part: its length, and the captured part of its contents.
 */
static void put_cut_bytes(struct body *b, const struct visit *v, enum rule rule)
{
    struct rewriter *r = b->r;
    uint32_t len = v->full_len;
    bool as_it_was = rule != RULE_TOKEN;

    count(r, v->field->cls, rule);
    if (v->field->kind != XDR_FIXED) {
        if (!as_it_was)
            len = TOKEN_LEN;
        xdr_put_u32(&r->put, len);
    }
    b->missing = xdr_padded(len);
    if (rule == RULE_ZERO && v->field->cls == CLASS_DATA) {
        xdr_put_zeros(&r->put, v->len);
        b->missing -= v->len;
    }
}

static void put_mapped_fixed(struct rewriter *r, const struct visit *v, enum rule rule)
{
    struct bytes mapped;

    count(r, v->field->cls, rule);
    if (v->field->in_times && r->hides_verifier_times && v->len == 8 &&
        verifier_times_add(&r->verifier_times, v->data) < 0)
        xdr_put_fail(&r->put, XDR_PUT_NO_MEMORY);
    if (v->len == 8 && rule != RULE_NOISE && rule != RULE_TOKEN && rule != RULE_SAME) {
        xdr_put_u64(&r->put, rule == RULE_KEEP ? load_be64(v->data)
                                               : mapping_number(r->mapping, v->field->cls, rule, 64,
                                                                load_be64(v->data)));
        return;
    }
    if (rule == RULE_TOKEN)
        rule = RULE_KEYED; /* its length is the protocol's */
    if (mapping_bytes(r->mapping, v->field->cls, rule, false, 0, v->data, v->len, &mapped, r->err) <
            0 ||
        mapped.len != v->len) {
        xdr_put_fail(&r->put, XDR_PUT_NO_MEMORY);
        return;
    }
    xdr_put_fixed(&r->put, mapped.data, mapped.len);
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
        xdr_put_u64(&r->put, value);
    else
        xdr_put_u32(&r->put, (uint32_t)value);
}

/* Over the last number but |back|. */
static void put_again(struct rewriter *r, size_t back, uint32_t value)
{
    if (!r->put.problem)
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
    b->end = (uint64_t)v->offset + xdr_padded(v->full_len);
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
            put_mapped_fixed(r, v, rule);
        else
            put_mapped(r, v->field->cls, rule, v->field->kind == XDR_STRING, v->field->max, v->data,
                       v->len);
        break;
    default: /* what the structure is made of: booleans, discriminants, counts */
        xdr_put_u32(&r->put, (uint32_t)v->value);
        break;
    }
    return r->put.problem;
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
    struct captured body = rpc_body(m->data, m->cap_len, h);
    struct walk w;
    enum walk_result result = rpc_body_walk(&w, type, &body, &visitor);

    end_time(&b);
    if (result == WALK_MALFORMED && w.surplus) {
        xdr_put_u32(&r->put, 0);
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
    uint64_t at = (uint64_t)h->body + xdr_padded(h->body_len);
    uint32_t len = 0;

    if (at + 4 <= m->cap_len)
        len = load_be32(m->data + at);
    if (len > RPC_AUTH_BODY_MAX || at + 4 + len > m->cap_len)
        len = 0;
    put_mapped(r, CLASS_OPAQUE, r->policy->extras[EXTRA_CREDENTIAL], false, 0,
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

    xdr_put_u32(&r->put, mapping_extra(r->mapping, EXTRA_XID, h->xid));
    xdr_put_u32(&r->put, h->direction);
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
    xdr_put_u32(&r->put, 0); /* the length, below */
    at = r->out.len;
    xdr_put_u32(&r->put, call ? h->credential.gss_sequence : load_be32(m->data + h->body - 4));
    put_body(r, call ? t->procedure->arguments : t->procedure->result, m, h, out);
    if (r->put.problem)
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
    r->put = xdr_put_to(&r->out, XDR_PUT_ANY_LENGTH);
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
    if (r->put.problem)
        return err_memory(err, "a message");
    out->data = r->out.data;
    if (!out->wire_len)
        out->cap_len = out->wire_len = (uint32_t)r->out.len;
    if (out->cap_len > MESSAGE_MAX) { /* tokens longer than names; no reader keeps as much */
        out->cap_len = MESSAGE_MAX;
        out->outcome = REWRITE_PARTIAL;
    }
    return 0;
}
