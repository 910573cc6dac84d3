/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/scrub_ask.c
 *
 * Questions of the scrub: one procedure, with each server's own handle and cookies.  The SUT's
 * messages are kept whole for the log; of the reference's, the ring brings the operation.
 */
#include "base/grow.h"
#include "shadow/scrub.h"

#include <stdlib.h>

/* RFC 1813 s3.3 */
enum { GETATTR = 1, READLINK = 5, READ = 6, READDIR = 16 };

void scrub_clear_parts(struct scrub_lane *lane)
{
    for (uint32_t i = 0; i < lane->count; i++) {
        struct scrub_part *p = &lane->parts[i];

        free(p->operation);
        buf_free(&p->contents);
        buf_free(&p->call);
        buf_free(&p->reply);
    }
    lane->count = 0;
    lane->bytes = 0;
}

static struct scrub_part *last_part(struct scrub_lane *lane)
{
    return &lane->parts[lane->count - 1];
}

static int side_of(const struct scrub_side *side)
{
    return side == &side->lane->sides[REF] ? REF : SUT;
}

/* --- answers */

static int note_cookie(void *ctx, const struct effect_entry *entry)
{
    ((struct scrub_side *)ctx)->cookie = entry->cookie;
    return 0;
}

/* Where the listing goes on. */
static void note_listing(struct scrub_side *side, struct bytes body)
{
    struct effect e = { .procedure = side->call.table, .result_body = body };
    struct READDIR3res res = { .eof = false };
    uint64_t before = side->cookie;

    effect_decode_reply(&e);
    effect_entries(&e, note_cookie, side);
    bind_read(nfs3_binding(READDIR)->result, body, &res); /* without entries: there is no room */
    memcpy(side->verifier, res.cookieverf, sizeof(side->verifier));
    side->has_ended = e.eof || side->cookie == before;
}

/* Where the file goes on, and the contents for the log. */
static int note_data(struct scrub_side *side, struct bytes body, struct err *err)
{
    struct scrub_lane *lane = side->lane;
    struct shadow *s = lane->shadow;
    struct READ3res res;

    bind_read(nfs3_binding(READ)->result, body, &res);
    if (side_of(side) == SUT)
        return 0;
    s->counts.scrub.bytes += res.data.len;
    scrub_pay(s->scrub, loop_now(s->loop), res.data.len);
    lane->offset += res.data.len;
    side->has_ended = res.eof || !res.data.len;
    return buf_append(&last_part(lane)->contents, res.data.data, res.data.len) < 0
               ? err_memory(err, "scrubbing")
               : 0;
}

static int keep_messages(struct scrub_part *part, const struct rpc_answer *rpc, struct err *err)
{
    int64_t ahead = send_wall_clock_ahead();

    part->called = rpc->called + ahead;
    part->arrived = rpc->arrived + ahead;
    if (buf_append(&part->call, rpc->call.data, rpc->call.len) < 0 ||
        buf_append(&part->reply, rpc->message.data, rpc->message.len) < 0)
        return err_memory(err, "scrubbing");
    return 0;
}

static int on_done(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct scrub_side *side = (struct scrub_side *)(void *)call;
    struct scrub_lane *lane = side->lane;
    int result = 0;

    if (answer->rpc->outcome == RPC_CANCELLED)
        return 0;
    lane->calls--;
    lane->bytes += answer->rpc->message.len;
    side->status = answer->problem ? NFS3ERR_SERVERFAULT : load_be32(answer->body.data);
    side->has_ended = side->status != NFS3_OK;
    if (answer->rpc->outcome != RPC_ANSWERED || (answer->problem && side_of(side) == REF))
        lane->is_lost = true;
    else if (side_of(side) == SUT)
        result = keep_messages(last_part(lane), answer->rpc, err);
    if (result == 0 && !side->status && lane->procedure == READDIR)
        note_listing(side, answer->body);
    if (result == 0 && !side->status && lane->procedure == READ)
        result = note_data(side, answer->body, err);
    return result == 0 ? scrub_settle(lane, err) : result;
}

/* --- questions */

static uint32_t procedure_for(uint32_t type)
{
    switch (type) {
    case NF3REG:
        return READ;
    case NF3DIR:
        return READDIR;
    case NF3LNK:
        return READLINK;
    default:
        return GETATTR;
    }
}

static int call_side(struct scrub_side *side, struct bytes handle, struct err *err)
{
    struct scrub_lane *lane = side->lane;
    struct shadow *s = lane->shadow;
    const struct nfs3_binding *nfs3 = nfs3_binding(lane->procedure);
    const struct wire_binding binding = { nfs3->arguments_size, nfs3->result_size, nfs3->arguments,
                                          nfs3->result };
    union {
        struct GETATTR3args getattr;
        struct READLINK3args readlink;
        struct READ3args read;
        struct READDIR3args readdir;
    } args = { .getattr = { handle } };

    if (lane->procedure == READ)
        args.read = (struct READ3args){ handle, lane->offset, SCRUB_PIECE };
    if (lane->procedure == READDIR) {
        args.readdir = (struct READDIR3args){ .dir = handle,
                                              .cookie = side->cookie,
                                              .count = SCRUB_LIST_BYTES };
        memcpy(args.readdir.cookieverf, side->verifier, sizeof(side->verifier));
    }
    side->call = (struct bound_call){ .done = on_done,
                                      .program = NFS3_PROGRAM,
                                      .version = NFS3_VERSION,
                                      .procedure = lane->procedure,
                                      .credential = s->setup.credential };
    return bound_call(side_of(side) == REF ? s->copy_reference : s->copy_sut, &side->call, &binding,
                      &args, err);
}

int scrub_ask(struct scrub_lane *lane, struct err *err)
{
    struct shadow *s = lane->shadow;
    const struct mirror_object *object = mirror_at(s->mirror, lane->object);
    const struct bytes handles[SIDES] = { mirror_handle(s->mirror, object),
                                          mirror_sut_handle(s->mirror, object) };

    if (!rpc_client_has_room(s->copy_reference) || !rpc_client_has_room(s->copy_sut))
        return 1;
    if (!lane->procedure)
        lane->procedure = procedure_for(object->type);
    if (GROW(lane->parts, lane->count, lane->cap) < 0)
        return err_memory(err, "scrubbing");
    lane->parts[lane->count++] = (struct scrub_part){ .operation = NULL };
    lane->asked = loop_now(s->loop);
    lane->is_ready = false;
    for (int i = 0; i < SIDES; i++) {
        int result;

        if (lane->procedure == READDIR && lane->sides[i].has_ended)
            continue;
        result = call_side(&lane->sides[i], handles[i], err);
        if (result < 0)
            return result;
        lane->is_lost |= result == RPC_CLIENT_FULL;
        lane->calls += result == 0;
        lane->wants_operation |= result == 0 && i == REF;
    }
    return lane->calls ? 0 : scrub_settle(lane, err);
}
