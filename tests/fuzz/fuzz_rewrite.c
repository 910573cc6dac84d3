/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_rewrite.c
 *
 * Any frames through the anonymizer.  Held to: it goes on to the end, what it writes is a chain of
 * pcapng blocks, and nowhere in it are 8 consecutive bytes of a secret that this target wrote into
 * the messages: into names, handles, contents, credentials, cookies, behind bodies, into bodies
 * that cannot be read, and at any place that the input says.
 *
 * Some numbers stay under every policy (sizes, offsets, counts).  Where the secret came to stand in
 * these, which a second engine's messages show, nothing can be said, and the search is left out.
 *
 * Input: a byte (bits 0-1 policy, bit 2 small limits, bit 3 the capture ends in a packet), then
 * pieces of: kind, time step (signed, 10 us), what the kind asks for, length (2), bytes.
 *     bits 0-1    0 a frame; 1 TCP, a record mark before the bytes; 2 a datagram; 3 TCP as it is
 *     bit 2       direction
 *     bits 3-4    which port
 *     bit 5       a byte follows: so many sixteenths of it were captured
 *     bit 6       the secret into every field of the message that must not get out
 *     bit 7       two bytes follow: the secret at this offset
 */
#include "anon/anon.h"
#include "anon/policy_parts.h"
#include "flow/message.h"
#include "frames.h"
#include "wire/rpc.h"
#include "wire/walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { SECRET_LEN = 16, WINDOW = 8, PORTS = 4, CALLS = 64, LINKTYPE_ETHERNET = 1, POLICIES = 4 };
enum { GSS_HEADER = 20, CUT_HEADER = 24 };

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* From /dev/urandom, once; all bytes are above 15, so that it is never a length or a program. */
static const uint8_t secret[SECRET_LEN] = { 0xd3, 0x7e, 0x9b, 0x41, 0xe8, 0x5c, 0xa6, 0x1f,
                                            0xf2, 0x63, 0x8d, 0xb4, 0x2a, 0xc7, 0x59, 0x90 };

/* What the built-in ones don't use. */
static const char fourth_policy[] =
    "[policy]\nname = fuzz\n[classes]\nhandle = keyed\nname = token\npath = same\nhost = token\n"
    "address = keyed\nuid = zero\ngid = keyed\nfileid = keyed\nfsid = zero\ndevice = keyed\n"
    "cookie = keyed\nverifier = zero\nlock_owner = same\ntime = zero\nmode = zero\n"
    "data = noise\nopaque = zero\ninterval = zero\nsize = keep\noffset = keep\ncount = keep\n"
    "type = keep\nstatus = keep\nboolean = keep\nenum = keep\nnone = keep\n"
    "[messages]\nstamp = zero\ncredential = keyed\nxid = keyed\nport = keep\nunread = header\n";

struct known_call {
    uint32_t xid;
    const struct procedure *procedure;
    struct rpc_auth credential;
};

struct run {
    const struct policy *policy;
    struct anon *anon;
    struct engine *judge;
    struct buf out, kept; /* kept: a flag for each byte of a message */
    bool contaminated;
    uint64_t frame;
    int64_t time;
    uint32_t next[PORTS][2];
    struct known_call calls[CALLS];
    uint8_t packet[FRAME_MAX];
    uint8_t message[FRAME_MAX];
};

struct rest {
    const uint8_t *data;
    size_t len;
};

static struct policy *policies[POLICIES];
static const struct key key = { { 1, 2, 3, 4, 5, 6, 7, 8 }, KEY_VERSION };

static void require(bool condition, const char *what)
{
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = { "public", "lab", "strict" };
    struct err err = { 0 };

    (void)argc, (void)argv;
    wire_init();
    for (int i = 0; i < POLICIES - 1; i++)
        require(policy_load(names[i], &policies[i], &err) == 0, err.text);
    require(policy_read("fuzz", fourth_policy, sizeof(fourth_policy) - 1, &policies[POLICIES - 1],
                        &err) == 0,
            err.text);
    return 0;
}

static int to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    struct run *r = ctx;

    return buf_append(&r->out, data, len) < 0 ? err_set(err, ERR_SYSTEM, "no memory") : 0;
}

static int no_record(void *ctx, const struct record *record, struct err *err)
{
    (void)ctx, (void)record, (void)err;
    return 0;
}

/* --- the secret into a message --- */

struct planting {
    uint8_t *data; /* of the message */
    const uint8_t *base;
};

static void fill(uint8_t *at, size_t len)
{
    for (size_t i = 0; i < len; i++)
        at[i] = secret[i % SECRET_LEN];
}

static bool must_not_get_out(const struct field *field)
{
    switch (field->cls) {
    case CLASS_HANDLE:
    case CLASS_NAME:
    case CLASS_PATH:
    case CLASS_HOST:
    case CLASS_ADDRESS:
    case CLASS_UID:
    case CLASS_GID:
    case CLASS_FILEID:
    case CLASS_FSID:
    case CLASS_DEVICE:
    case CLASS_COOKIE:
    case CLASS_VERIFIER:
    case CLASS_DATA:
    case CLASS_LOCK_OWNER:
    case CLASS_OPAQUE:
        return true;
    default: /* texts among what has no class are kept only when they are well-known */
        return field->kind == XDR_STRING || field->kind == XDR_OPAQUE;
    }
}

static int plant_field(void *ctx, const struct visit *v)
{
    struct planting *p = ctx;

    if (!v->whole && v->field->kind <= XDR_STRING && must_not_get_out(v->field))
        fill(p->data + (v->data - p->base), v->len);
    return 0;
}

/* Fills what stands behind a body's end, or all of a body that cannot be read. */
static void plant_body(const struct procedure *procedure, bool reply, uint8_t *data, uint32_t len,
                       const struct rpc_header *h)
{
    struct planting p = { data + h->body, data + h->body };
    const struct visitor visitor = { plant_field, &p, 0 };
    struct walk w;

    if (!procedure || h->body_protected) {
        fill(data + h->body, len - h->body);
        return;
    }
    if (walk(&w, reply ? procedure->result : procedure->arguments, p.data, h->body_len, h->body_len,
             false, &visitor) == WALK_MALFORMED)
        fill(p.data + w.offset, h->body_len - w.offset);
}

static void plant_auth(uint8_t *data, const struct rpc_auth *auth)
{
    if (auth->flavor == RPC_AUTH_SYS && auth->valid)
        fill(data + (auth->machine.data - data), auth->machine.len);
    else if (auth->flavor == RPC_GSS && auth->valid && auth->body.len > GSS_HEADER)
        fill(data + auth->offset + GSS_HEADER, auth->body.len - GSS_HEADER);
    else
        fill(data + auth->offset, auth->body.len);
}

static void plant(struct run *r, uint8_t *data, uint32_t len)
{
    struct rpc_header h;
    struct known_call *known;

    if (len < 4 || rpc_parse(data, len, len, &h) != RPC_OK || h.body > len)
        return;
    known = &r->calls[h.xid % CALLS];
    plant_auth(data, &h.verifier);
    if (h.direction == RPC_CALL) {
        const struct procedure *procedure = procedure_find(h.program, h.version, h.procedure);
        *known = (struct known_call){ h.xid, procedure, h.credential };
        plant_auth(data, &h.credential);
        plant_body(procedure, false, data, len, &h);
    } else if (h.status == RPC_SUCCESS) {
        bool ours = known->xid == h.xid;
        if (ours)
            rpc_reply_in_clear(data, len, &known->credential, &h);
        plant_body(ours ? known->procedure : NULL, true, data, len, &h);
    }
}

/* --- what stays --- */

struct judging {
    struct run *r;
    const uint8_t *base;
};

static void keep(struct run *r, const uint8_t *base, const uint8_t *at, size_t len)
{
    memset(r->kept.data + (at - base), 1, len);
}

static int judge_field(void *ctx, const struct visit *v)
{
    struct judging *j = ctx;
    enum rule rule;

    if (v->whole)
        return 0;
    if (v->field->kind > XDR_STRING) {
        keep(j->r, j->base, v->data, v->len);
        return 0;
    }
    rule = policy_rule(j->r->policy, v->walk, v->field);
    if (v->field->kind == XDR_OPAQUE || v->field->kind == XDR_STRING)
        keep(j->r, j->base, v->data - 4, 4); /* its length */
    else if (rule == RULE_KEEP || rule == RULE_OWNER)
        keep(j->r, j->base, v->data, v->len);
    return 0;
}

/* Whether |at| begins like the secret, from any of its bytes on. */
static bool is_secret(const uint8_t *at)
{
    for (unsigned i = 0; i < SECRET_LEN; i++) {
        unsigned n = 0;
        while (n < WINDOW && at[n] == secret[(i + n) % SECRET_LEN])
            n++;
        if (n == WINDOW)
            return true;
    }
    return false;
}

/* Marks what stays of a message, and looks for the secret there. */
static int judge_message(void *ctx, const struct engine_tapped *t, struct err *err)
{
    struct run *r = ctx;
    const struct message *m = t->message;
    struct rpc_header h;
    enum rpc_result result;
    uint32_t stays;

    if (t->event != TAP_MESSAGE || r->contaminated)
        return 0;
    r->kept.len = 0;
    if (buf_reserve(&r->kept, m->cap_len + 1) < 0)
        return err_set(err, ERR_SYSTEM, "no memory");
    memset(r->kept.data, 0, m->cap_len);
    result = rpc_parse(m->data, m->cap_len, m->wire_len, &h);
    /* numbers of the header, and lengths in it: not told apart from what is between them, but for
     * the bodies of credentials; of a header that was cut the procedure is the last */
    stays = result == RPC_OK ? h.body : CUT_HEADER;
    keep(r, m->data, m->data, stays < m->cap_len ? stays : m->cap_len);
    if (result == RPC_OK) {
        if (h.direction == RPC_CALL && h.credential.flavor == RPC_AUTH_SYS && h.credential.valid)
            memset(r->kept.data + (h.credential.machine.data - m->data), 0,
                   h.credential.machine.len);
        else if (h.direction == RPC_CALL && h.credential.body.len)
            memset(r->kept.data + h.credential.offset +
                       (h.credential.flavor == RPC_GSS && h.credential.valid ? GSS_HEADER : 0),
                   0, h.credential.body.len);
        if (h.verifier.body.len)
            memset(r->kept.data + h.verifier.offset, 0, h.verifier.body.len);
        if (h.direction == RPC_REPLY && t->credential)
            rpc_reply_in_clear(m->data, m->cap_len, t->credential, &h);
        if (t->procedure && !h.body_protected && h.body < m->cap_len &&
            (h.direction == RPC_CALL || h.status == RPC_SUCCESS)) {
            struct judging j = { r, m->data };
            const struct visitor visitor = { judge_field, &j, 0 };
            uint32_t len = m->cap_len - h.body < h.body_len ? m->cap_len - h.body : h.body_len;
            struct walk w;
            walk(&w, h.direction == RPC_CALL ? t->procedure->arguments : t->procedure->result,
                 m->data + h.body, len, h.body_len, false, &visitor);
        }
    }
    for (uint32_t i = 0, n = 0; i < m->cap_len && !r->contaminated; i++) {
        n = r->kept.data[i] ? n + 1 : 0;
        if (n >= WINDOW && is_secret(m->data + i + 1 - WINDOW))
            r->contaminated = true;
    }
    return 0;
}

/* --- frames --- */

static uint8_t byte(struct rest *in)
{
    if (!in->len)
        return 0;
    in->len--;
    return *in->data++;
}

static void feed(struct run *r, const uint8_t *data, uint32_t len, uint32_t captured)
{
    struct frame f = { .number = ++r->frame,
                       .time = r->time,
                       .cap_len = captured,
                       .wire_len = len,
                       .link_type = LINKTYPE_ETHERNET };
    uint8_t *exact = malloc(captured ? captured : 1); /* the sanitizer sees reads behind it */
    struct err err = { 0 };

    require(exact != NULL, "no memory");
    if (captured)
        memcpy(exact, data, captured);
    f.data = exact;
    if (engine_frame(r->judge, &f, &err) < 0 || engine_frame(anon_engine(r->anon), &f, &err) < 0)
        require(false, err.text);
    free(exact);
}

static void take_piece(struct run *r, unsigned kind, struct rest *in)
{
    static const uint16_t ports[PORTS] = { 2049, 111, 20048, 4045 };
    unsigned port = kind >> 3 & 3, side = kind >> 2 & 1, sixteenths = 16, at = 0, mark = 0;
    struct endpoint end[2] = { { 0x0a000001, (uint16_t)(700 + port) },
                               { 0x0a000009, ports[port] } };
    uint32_t *next = &r->next[port][side], len, captured;
    uint8_t *message = r->message;

    if (kind & 32)
        sixteenths = byte(in) % 17;
    if (kind & 128) {
        at = (unsigned)byte(in) << 8;
        at |= byte(in);
    }
    len = (uint32_t)byte(in) << 8;
    len |= byte(in);
    if (len > in->len)
        len = (uint32_t)in->len;
    if (len > FRAME_MAX - FRAME_HEADERS_MAX - 4)
        len = FRAME_MAX - FRAME_HEADERS_MAX - 4;
    if ((kind & 3) == 1)
        mark = 4;
    if (len)
        memcpy(message + mark, in->data, len);
    in->data += len;
    in->len -= len;
    if (kind & 64)
        plant(r, message + mark, len);
    if (kind & 128 && len >= SECRET_LEN)
        fill(message + mark + at % (len - SECRET_LEN + 1), SECRET_LEN);
    if (mark)
        store_be32(message, 0x80000000u | len);
    len += mark;
    if ((kind & 3) == 0) {
        feed(r, message, len, len * sixteenths / 16);
        return;
    }
    if ((kind & 3) == 2) {
        len = frame_udp(r->packet, 0, end[side], end[!side], message, len);
    } else {
        uint32_t seq = *next;
        *next += len;
        len = frame_tcp(r->packet, 0, end[side], end[!side], seq, r->next[port][!side], TCP_ACK,
                        message, len);
    }
    captured = FRAME_HEADERS_MAX - 4;
    captured += len > captured ? (len - captured) * sixteenths / 16 : 0;
    feed(r, r->packet, len, captured < len ? captured : len);
}

/* --- the output --- */

static void check_blocks(const struct buf *out)
{
    size_t at = 0;

    while (at < out->len) {
        uint32_t total;
        require(out->len - at >= 12, "a block's head is cut");
        total = load_le32(out->data + at + 4);
        require(total >= 12 && total % 4 == 0 && total <= out->len - at, "a block is cut");
        require(load_le32(out->data + at + total - 4) == total, "a block's lengths differ");
        at += total;
    }
    require(at > 0, "no output");
}

static void check_secret(const struct buf *out)
{
    for (size_t i = 0; i + WINDOW <= out->len; i++)
        if (is_secret(out->data + i)) {
            fprintf(stderr, "8 bytes of the secret at %zu of the output\n", i);
            abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    struct rest in = { data, size };
    uint8_t choice = byte(&in);
    struct engine_options options = { .connections = choice & 4 ? 2 : 16,
                                      .pending = choice & 4 ? 3 : 64,
                                      .stream_window = choice & 4 ? 300 : 0,
                                      .total_window = choice & 4 ? 500 : 0,
                                      .messages_only = true };
    struct sink sink = { no_record, NULL };
    struct err err = { 0 };

    memset(&r, 0, offsetof(struct run, packet));
    r.policy = policies[choice & 3];
    r.time = INT64_C(1700000000000000000);
    r.anon = anon_new(&options, r.policy, &key, to_memory, &r, &err);
    require(r.anon != NULL, err.text);
    r.judge = engine_new(&options, &sink, NULL, &err);
    require(r.judge != NULL, err.text);
    engine_set_tap(r.judge, judge_message, &r);
    while (in.len) {
        unsigned kind = byte(&in);
        r.time += (int8_t)byte(&in) * INT64_C(10000);
        take_piece(&r, kind, &in);
    }
    if (engine_end(r.judge, choice & 8, &err) < 0 || anon_end(r.anon, choice & 8, &err) < 0)
        require(false, err.text);
    anon_free(r.anon);
    engine_free(r.judge);
    check_blocks(&r.out);
    if (!r.contaminated)
        check_secret(&r.out);
    buf_free(&r.out);
    buf_free(&r.kept);
    return 0;
}
