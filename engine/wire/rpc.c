/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/wire/rpc.c
 *
 * RPC version 2 headers (RFC 5531 s8, s9, appendix A for AUTH_SYS and AUTH_SHORT), AUTH_DH's form
 * (RFC 2695 s2), RPCSEC_GSS (RFC 2203 s5, RFC 5403, RFC 7861 for versions 2 and 3).
 */
#include "wire/rpc.h"

enum { MSG_ACCEPTED = 0, MSG_DENIED = 1 };
enum { REJECT_RPC_MISMATCH = 0, REJECT_AUTH_ERROR = 1 };
enum { GSS_DATA = 0 };
enum { GSS_SERVICE_NONE = 1, GSS_SERVICE_INTEGRITY = 2 };
enum { DH_FULLNAME = 0, DH_NICKNAME = 1, DH_NETNAME_MAX = 255 };
enum { SYS_MACHINE_MAX = 255 };

struct reader {
    const uint8_t *data;
    uint32_t pos, cap, wire;
};

static inline enum rpc_result need(const struct reader *r, uint32_t len)
{
    if (len <= r->cap - r->pos)
        return RPC_OK;
    return len > r->wire - r->pos ? RPC_NOT : RPC_TRUNCATED;
}

static inline enum rpc_result read_word(struct reader *r, uint32_t *value)
{
    enum rpc_result result = need(r, 4);

    if (result == RPC_OK) {
        *value = load_be32(r->data + r->pos);
        r->pos += 4;
    }
    return result;
}

static inline uint32_t padded(uint32_t len)
{
    return (len + 3) & ~3u;
}

/* An opaque or string of at most |max| (below 4 GiB - 4) bytes. */
static enum rpc_result read_bytes(struct reader *r, uint32_t max, struct bytes *out)
{
    uint32_t len = 0;
    enum rpc_result result = read_word(r, &len);

    if (result != RPC_OK)
        return result;
    if (len > max) {
        r->pos -= 4;
        return RPC_NOT;
    }
    result = need(r, padded(len));
    if (result == RPC_OK) {
        out->data = r->data + r->pos;
        out->len = len;
        r->pos += padded(len);
    }
    return result;
}

static bool read_auth_sys(struct reader *r, struct rpc_auth *auth)
{
    uint32_t i;

    if (read_word(r, &auth->stamp) || read_bytes(r, SYS_MACHINE_MAX, &auth->machine) ||
        read_word(r, &auth->uid) || read_word(r, &auth->gid) || read_word(r, &auth->gid_count) ||
        auth->gid_count > RPC_GIDS_MAX || r->wire - r->pos != 4 * auth->gid_count)
        return false;
    for (i = 0; i < auth->gid_count; i++)
        auth->gids[i] = load_be32(r->data + r->pos + 4 * i);
    return true;
}

static bool read_auth_gss(struct reader *r, struct rpc_auth *auth)
{
    return !read_word(r, &auth->gss_version) && auth->gss_version >= 1 && auth->gss_version <= 3 &&
           !read_word(r, &auth->gss_procedure) && !read_word(r, &auth->gss_sequence) &&
           !read_word(r, &auth->gss_service) &&
           !read_bytes(r, RPC_AUTH_BODY_MAX, &auth->gss_context) && r->pos == r->wire;
}

/* Full name: a net name, a key of 8 bytes, a window. */
static bool is_auth_dh(struct reader *r)
{
    struct bytes name;
    uint32_t kind, word;

    if (read_word(r, &kind))
        return false;
    if (kind == DH_FULLNAME) {
        if (read_bytes(r, DH_NETNAME_MAX, &name) || need(r, 12))
            return false;
        r->pos += 12;
    } else if (kind != DH_NICKNAME || read_word(r, &word)) {
        return false;
    }
    return r->pos == r->wire;
}

/* All but the group numbers, which only count up to |gid_count|.  This is done twice for every
 * message: compilers make a few wide stores of each half, but a slow loop of the whole. */
static inline void clear_auth(struct rpc_auth *auth)
{
    enum { HALF = offsetof(struct rpc_auth, stamp), WHOLE = offsetof(struct rpc_auth, gids) };

    memset(auth, 0, HALF);
    memset((uint8_t *)auth + HALF, 0, WHOLE - HALF);
}

static void read_auth_body(struct rpc_auth *auth, bool is_credential)
{
    struct reader r = { auth->body.data, 0, auth->body.len, auth->body.len };
    struct bytes body = auth->body;
    uint32_t flavor = auth->flavor;

    switch (auth->flavor) {
    case RPC_AUTH_NONE:
    case RPC_AUTH_SHORT:
        auth->valid = true;
        break;
    case RPC_AUTH_SYS:
        auth->valid = read_auth_sys(&r, auth);
        break;
    case RPC_AUTH_DH: /* as a verifier: a time stamp of 8 bytes, and a window or a nickname */
        auth->valid = is_credential ? is_auth_dh(&r) : auth->body.len == 12;
        break;
    case RPC_GSS: /* as a verifier: a checksum of any form */
        auth->valid = is_credential ? read_auth_gss(&r, auth) : true;
        break;
    }
    if (!auth->valid) {
        clear_auth(auth);
        auth->flavor = flavor;
        auth->body = body;
    }
}

static enum rpc_result read_auth(struct reader *r, struct rpc_auth *auth, bool is_credential)
{
    enum rpc_result result = read_word(r, &auth->flavor);

    if (result == RPC_OK)
        result = read_bytes(r, RPC_AUTH_BODY_MAX, &auth->body);
    if (result != RPC_OK)
        return result;
    read_auth_body(auth, is_credential);
    auth->offset = (uint32_t)(auth->body.data - r->data);
    return RPC_OK;
}

/* rpc_gss_integ_data: an opaque of sequence number and body, then the checksum. */
static void unwrap(const uint8_t *data, uint32_t cap, struct rpc_header *h)
{
    uint32_t len;

    h->body_protected = true;
    if (h->body_len < 8 || cap < h->body || cap - h->body < 8)
        return;
    len = load_be32(data + h->body);
    if (len < 4 || len > h->body_len - 4)
        return;
    h->body += 8;
    h->body_len = len - 4;
    h->body_protected = false;
}

static void find_body(const uint8_t *data, uint32_t cap, const struct rpc_auth *credential,
                      struct rpc_header *h)
{
    if (credential->flavor != RPC_GSS)
        return;
    if (!credential->valid || credential->gss_procedure != GSS_DATA)
        h->body_protected = true;
    else if (credential->gss_service == GSS_SERVICE_INTEGRITY)
        unwrap(data, cap, h);
    else
        h->body_protected = credential->gss_service != GSS_SERVICE_NONE;
}

static enum rpc_result read_call(struct reader *r, struct rpc_header *h)
{
    enum rpc_result result;

    if ((result = read_word(r, &h->rpc_version)))
        return result;
    if (h->rpc_version != 2) {
        r->pos -= 4;
        return RPC_NOT;
    }
    if ((result = read_word(r, &h->program)) || (result = read_word(r, &h->version)) ||
        (result = read_word(r, &h->procedure)) || (result = read_auth(r, &h->credential, true)) ||
        (result = read_auth(r, &h->verifier, false)))
        return result;
    return RPC_OK;
}

static enum rpc_result read_detail(struct reader *r, struct rpc_header *h, unsigned words)
{
    enum rpc_result result = RPC_OK;
    unsigned i;

    for (i = 0; i < words && result == RPC_OK; i++)
        result = read_word(r, &h->detail[i]);
    return result;
}

static enum rpc_result read_reply(struct reader *r, struct rpc_header *h)
{
    enum rpc_result result;
    uint32_t state = 0;

    if ((result = read_word(r, &state)))
        return result;
    if (state == MSG_ACCEPTED) {
        if ((result = read_auth(r, &h->verifier, false)) || (result = read_word(r, &h->status)))
            return result;
        if (h->status <= RPC_SYSTEM_ERR)
            return read_detail(r, h, h->status == RPC_PROG_MISMATCH ? 2 : 0);
    } else if (state == MSG_DENIED) {
        if ((result = read_word(r, &state)))
            return result;
        if (state == REJECT_RPC_MISMATCH) {
            h->status = RPC_MISMATCH;
            return read_detail(r, h, 2);
        }
        if (state == REJECT_AUTH_ERROR) {
            h->status = RPC_AUTH_ERROR;
            return read_detail(r, h, 1);
        }
    }
    r->pos -= 4;
    return RPC_NOT;
}

/* Nearly every reply: accepted, with a verifier of AUTH_NONE without a body, and with results. */
static bool is_plain_success(const uint8_t *data, uint32_t cap)
{
    static const uint8_t words[20] = { [3] = RPC_REPLY };

    return cap >= 24 && memcmp(data + 4, words, sizeof(words)) == 0;
}

/* All other messages.  Apart from rpc_parse, whose short way has no use for its registers. */
static __attribute__((noinline)) enum rpc_result
parse_any(const uint8_t *data, uint32_t cap, uint32_t wire_len, struct rpc_header *out)
{
    struct reader r = { data, 0, cap, wire_len };
    enum rpc_result result;

    if ((result = read_word(&r, &out->xid)) == RPC_OK &&
        (result = read_word(&r, &out->direction)) == RPC_OK) {
        if (out->direction == RPC_CALL) {
            result = read_call(&r, out);
        } else if (out->direction == RPC_REPLY) {
            result = read_reply(&r, out);
        } else {
            r.pos -= 4;
            result = RPC_NOT;
        }
    }
    out->body = r.pos;
    if (result != RPC_OK)
        return result;
    out->body_len = wire_len - r.pos;
    if (out->direction == RPC_CALL)
        find_body(data, cap, &out->credential, out);
    return RPC_OK;
}

enum rpc_result rpc_parse(const uint8_t *data, uint32_t cap_len, uint32_t wire_len,
                          struct rpc_header *out)
{
    uint32_t cap = cap_len < wire_len ? cap_len : wire_len;

    memset(out, 0, offsetof(struct rpc_header, credential));
    clear_auth(&out->credential);
    clear_auth(&out->verifier);
    out->status = out->detail[0] = out->detail[1] = 0;
    out->body_len = 0;
    out->body_protected = false;
    if (is_plain_success(data, cap)) {
        out->xid = load_be32(data);
        out->direction = RPC_REPLY;
        out->verifier.body.data = data + 20;
        out->verifier.offset = 20;
        out->verifier.valid = true;
        out->body = 24;
        out->body_len = wire_len - 24;
        return RPC_OK;
    }
    return parse_any(data, cap, wire_len, out);
}

void rpc_reply_in_clear(const uint8_t *data, uint32_t cap_len, const struct rpc_auth *call,
                        struct rpc_header *reply)
{
    if (reply->status == RPC_SUCCESS)
        find_body(data, cap_len, call, reply);
}

const char *rpc_status_name(uint32_t status)
{
    switch (status) {
    case RPC_SUCCESS:
        return "SUCCESS";
    case RPC_PROG_UNAVAIL:
        return "PROG_UNAVAIL";
    case RPC_PROG_MISMATCH:
        return "PROG_MISMATCH";
    case RPC_PROC_UNAVAIL:
        return "PROC_UNAVAIL";
    case RPC_GARBAGE_ARGS:
        return "GARBAGE_ARGS";
    case RPC_SYSTEM_ERR:
        return "SYSTEM_ERR";
    case RPC_MISMATCH:
        return "RPC_MISMATCH";
    case RPC_AUTH_ERROR:
        return "AUTH_ERROR";
    }
    return NULL;
}
