/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/list_more.c
 *
 * Servers cut listings where they like, and order entries as they like.  So the SUT's listing may
 * have more when the reference's has ended: then the SUT is asked to go on, to its own end.  And an
 * entry that is longer than all bytes that a client asks for comes first on one server only: that
 * is NFS3ERR_TOOSMALL there.  Then the SUT is asked again for more bytes.
 */
#include "shadow/shadow_parts.h"

#include <stdlib.h>

enum {
    PARTS_MAX = 4096,     /* of one listing */
    BYTES_MAX = 16 << 20, /* likewise */
};

struct end_of {
    uint64_t cookie;
    struct bytes first; /* name */
    uint32_t entries;
};

static int on_entry(void *ctx, const struct effect_entry *entry)
{
    struct end_of *end = ctx;

    end->cookie = entry->cookie;
    if (!end->entries++)
        end->first = entry->name;
    return 0;
}

static struct end_of end_of(const struct effect *e)
{
    struct end_of end = { 0 };

    effect_entries(e, on_entry, &end);
    return end;
}

/* The SUT begins with an entry that the reference does not begin with. */
static bool begins_otherwise(const struct effect *ref, const struct effect *sut)
{
    struct bytes a = end_of(ref).first, b = end_of(sut).first;

    return sut->succeeded && (a.len != b.len || !a.len || memcmp(a.data, b.data, a.len) != 0);
}

static struct list_more *begin(struct request *r, struct err *err)
{
    struct exchange *sut = rest_of(r)->sut;

    if (!sut->more && !(sut->more = calloc(1, sizeof(*sut->more))))
        err_memory(err, "a listing");
    return sut->more;
}

/* 1: the SUT is to be asked from there on; 0: it has no more; negative. */
static int go_on(struct request *r, const struct effect *sut, struct err *err)
{
    struct end_of end = end_of(sut);
    struct list_more *more;

    if (!sut->succeeded || !effect_of(r)->eof || !sut->has_eof || sut->eof || !end.cookie)
        return 0;
    more = begin(r, err);
    if (!more)
        return -err->code;
    if (more->count == PARTS_MAX || more->bytes > BYTES_MAX)
        return 0;
    more->stage = MORE_PARTS;
    more->at.sut_cookie = end.cookie;
    listings_verifier(sut, more->at.sut_verifier);
    return 1;
}

int list_more(struct request *r, const struct effect *sut, struct err *err)
{
    const struct effect *e = effect_of(r);

    if (effect_action(e) != ACTION_LIST || !e->succeeded)
        return 0;
    if (sut->status != NFS3ERR_TOOSMALL)
        return go_on(r, sut, err);
    if (!begin(r, err))
        return -err->code;
    rest_of(r)->sut->more->stage = MORE_BYTES;
    return 1;
}

static int keep(struct request *r, const struct rpc_answer *answer, int64_t ahead, struct err *err)
{
    struct list_part *part = calloc(1, sizeof(*part));
    struct list_more *more = rest_of(r)->sut->more;

    if (!part || buf_append(&part->call, answer->call.data, answer->call.len) < 0 ||
        buf_append(&part->reply, answer->message.data, answer->message.len) < 0) {
        if (part)
            buf_free(&part->call);
        free(part);
        return err_memory(err, "a listing");
    }
    part->called = answer->called + ahead;
    part->arrived = answer->arrived + ahead;
    *(more->last ? &more->last->next : &more->first) = part;
    more->last = part;
    more->count++;
    more->bytes += part->call.len + part->reply.len;
    return 0;
}

/* With more bytes it has an answer, and that begins otherwise: so the order is to blame. */
static int replace(struct request *r, const struct rpc_answer *answer, int64_t ahead,
                   struct err *err)
{
    struct exchange *sut = rest_of(r)->sut;

    sut->call.len = sut->reply.len = 0;
    sut->called = answer->called + ahead;
    sut->arrived = answer->arrived + ahead;
    if (buf_append(&sut->call, answer->call.data, answer->call.len) < 0 ||
        buf_append(&sut->reply, answer->message.data, answer->message.len) < 0)
        return err_memory(err, "a listing");
    return 0;
}

int list_take(struct request *r, const struct rpc_answer *answer, const struct effect *sut,
              int64_t ahead, struct err *err)
{
    if (rest_of(r)->sut->more->stage == MORE_PARTS)
        return keep(r, answer, ahead, err) < 0 ? -err->code : go_on(r, sut, err);
    if (!begins_otherwise(effect_of(r), sut))
        return 0;
    if (replace(r, answer, ahead, err) < 0 || listings_note(&r->shadow->listings, r, sut, err) < 0)
        return -err->code;
    rest_of(r)->sut->status = sut->status;
    rest_of(r)->sut->succeeded = true;
    return go_on(r, sut, err);
}

void list_more_free(struct list_more *more)
{
    struct list_part *part, *next;

    for (part = more ? more->first : NULL; part; part = next) {
        next = part->next;
        buf_free(&part->call);
        buf_free(&part->reply);
        free(part);
    }
    free(more);
}
