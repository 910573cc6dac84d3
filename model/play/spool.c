/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/play/spool.c
 *
 * Operations between two passes, in a nameless file: a head of numbers, then the bytes of each.
 * Contract: spool.h.
 */
#include "play/spool.h"
#include "base/temporary.h"
#include "wire/handles.h"
#include "wire/rpc.h"

#include <stdlib.h>

enum {
    FATTR3_LEN = 84,
    WCC_ATTR_LEN = 24,
    PROGRAM_NFS = 100003,
};

#define OPERATIONS "operations"

/* Before each operation's bytes: entries, arguments, attributes, link text, listing. */
struct head {
    int64_t id, call_time, done_time, status, rpc_status;
    uint64_t done;
    uint32_t object, parent2, new_object, server, client, credential, granted;
    uint32_t arguments_len, text_len, result_len, entry_count, handle_at[2];
    uint32_t arguments_length, result_length, result_roles, call_flags, reply_flags;
    uint32_t program;
    uint8_t procedure, pairing, shown, before; /* |shown|, |before|: bits by enum whose */
    uint8_t has_procedure, has_done, has_eof, eof, has_granted, arguments, result, unplayable;
    uint8_t timed;
};

struct spool {
    struct temporary *file;
    struct buf arguments;
};

struct spool *spool_new(struct err *err)
{
    struct spool *s = calloc(1, sizeof(*s));

    if (!s) {
        err_memory(err, "a spool");
        return NULL;
    }
    s->file = temporary_new(OPERATIONS, err);
    if (s->file)
        return s;
    spool_free(s);
    return NULL;
}

void spool_free(struct spool *s)
{
    if (!s)
        return;
    temporary_free(s->file);
    buf_free(&s->arguments);
    free(s);
}

/* Handles of an operation, to be replaced by numbers of objects. */
struct numbering {
    const struct effect *effect;
    uint32_t *at;
    uint8_t number[4];
};

static int number_handle(void *ctx, const struct handle_place *place, struct bytes *handle)
{
    struct numbering *n = ctx;
    bool second = place->field->role & ROLE_PARENT2;

    store_be32(n->number, second ? n->effect->parent2 : n->effect->object);
    n->at[second] = place->at;
    *handle = (struct bytes){ n->number, sizeof(n->number) };
    return 0;
}

/* The arguments with numbers of objects in the place of handles. */
static int number_handles(struct spool *s, const struct effect *e, uint32_t at[2])
{
    struct xdr_put to = xdr_put_to(&s->arguments, XDR_PUT_ANY_LENGTH);
    struct numbering n = { .effect = e, .at = at };
    const struct handle_giver giver = { number_handle, &n };

    s->arguments.len = 0;
    at[0] = at[1] = 0;
    if (!e->arguments_body.data ||
        (e->arguments != WALK_OK && (e->arguments != WALK_TRUNCATED || !e->name.data)))
        return 0; /* of those that were cut, a name is worth something */
    handles_replace(&to, e->procedure->arguments, e->arguments_body, e->arguments_length, true,
                    &giver);
    return to.problem ? -1 : 0;
}

static bool is_listing(const struct effect *e)
{
    return e->succeeded && effect_action(e) == ACTION_LIST;
}

static bool put(struct spool *s, const void *data, size_t len, struct err *err)
{
    return temporary_write(s->file, data, len, err) == 0;
}

int spool_put(struct spool *s, const struct effect *e, const uint32_t *entries,
              uint32_t entry_count, uint8_t unplayable, struct err *err)
{
    struct head h = {
        .id = e->id,
        .call_time = e->call_time,
        .done_time = e->done_time,
        .timed = e->timed,
        .status = e->status,
        .rpc_status = e->rpc_status,
        .done = e->done,
        .object = e->object,
        .parent2 = e->parent2,
        .new_object = e->new_object,
        .server = e->server_number,
        .client = e->client_number,
        .credential = e->credential,
        .granted = e->granted,
        .text_len = e->result_roles & ROLE_LINK_TEXT ? e->link_text.len : 0,
        .result_len = is_listing(e) ? e->result_body.len : 0,
        .entry_count = entry_count,
        .result_length = e->result_length,
        .result_roles = e->result_roles,
        .call_flags = e->call_flags,
        .reply_flags = e->reply_flags,
        .pairing = e->pairing,
        .program = e->program,
        .has_procedure = e->procedure != NULL,
        .procedure = e->procedure ? (uint8_t)e->procedure->number : 0,
        .has_done = e->has_done,
        .has_eof = e->has_eof,
        .eof = e->eof,
        .has_granted = e->has_granted,
        .arguments = (uint8_t)e->arguments,
        .result = (uint8_t)e->result,
        .unplayable = unplayable,
    };
    bool good;

    if (number_handles(s, e, h.handle_at) < 0)
        return err_memory(err, "operations");
    h.arguments_len = (uint32_t)s->arguments.len;
    h.arguments_length = e->arguments_length - e->arguments_body.len + h.arguments_len;
    for (int i = 0; i < WHOSE_MAX; i++) {
        h.shown |= e->fattr3[i] ? (uint8_t)(1 << i) : 0;
        h.before |= e->wcc_attr[i] ? (uint8_t)(1 << i) : 0;
    }
    good = put(s, &h, sizeof(h), err) && put(s, entries, entry_count * sizeof(*entries), err) &&
           put(s, s->arguments.data, s->arguments.len, err);
    for (int i = 0; good && i < WHOSE_MAX; i++)
        good = (!e->fattr3[i] || put(s, e->fattr3[i], FATTR3_LEN, err)) &&
               (!e->wcc_attr[i] || put(s, e->wcc_attr[i], WCC_ATTR_LEN, err));
    good = good && put(s, e->link_text.data, h.text_len, err) &&
           put(s, e->result_body.data, h.result_len, err);
    return good ? 0 : -err->code;
}

int spool_rewind(struct spool *s, struct err *err)
{
    return temporary_rewind(s->file, err);
}

/* What the bytes behind |o| mean. */
static void lay_out(struct spooled *o, const struct head *h, uint8_t *at)
{
    struct effect *e = &o->effect;
    struct bytes text = { NULL, 0 };

    o->entries = (const uint32_t *)(const void *)at;
    o->entry_count = h->entry_count;
    at += h->entry_count * sizeof(uint32_t);
    for (int i = 0; i < 2; i++)
        o->handle_at[i] = h->handle_at[i] ? at + h->handle_at[i] : NULL;
    e->arguments_body = (struct bytes){ at, h->arguments_len };
    e->arguments_length = h->arguments_length; /* with contents, which are not here */
    at += h->arguments_len;
    for (int i = 0; i < WHOSE_MAX; i++) {
        if (h->shown >> i & 1) {
            e->fattr3[i] = at;
            at += FATTR3_LEN;
        }
        if (h->before >> i & 1) {
            e->wcc_attr[i] = at;
            at += WCC_ATTR_LEN;
        }
    }
    if (h->text_len)
        text = (struct bytes){ at, h->text_len };
    at += h->text_len;
    /* the arguments alone: of the result, all is here already */
    effect_decode(e);
    if (text.data)
        e->link_text = text;
    e->rpc_status = h->rpc_status;
    e->arguments = (enum walk_result)h->arguments;
    e->result = (enum walk_result)h->result;
    e->succeeded = h->rpc_status == RPC_SUCCESS && h->status == 0;
    e->result_body = (struct bytes){ at, h->result_len };
    e->result_length = h->result_length;
    e->result_roles = h->result_roles;
}

static struct spooled *make(const struct head *h, size_t len, struct err *err)
{
    struct spooled *o = malloc(sizeof(*o) + len);

    if (!o) {
        err_memory(err, "operations");
        return NULL;
    }
    memset(o, 0, sizeof(*o));
    o->unplayable = h->unplayable;
    o->effect = (struct effect){ .id = h->id,
                                 .call_time = h->call_time,
                                 .done_time = h->done_time,
                                 .timed = h->timed,
                                 .program = h->program,
                                 .version = 3,
                                 .pairing = h->pairing,
                                 .call_flags = h->call_flags,
                                 .reply_flags = h->reply_flags,
                                 .rpc_status = STATUS_NONE,
                                 .status = h->status,
                                 .server_number = h->server,
                                 .client_number = h->client,
                                 .credential = h->credential,
                                 .object = h->object,
                                 .parent2 = h->parent2,
                                 .new_object = h->new_object,
                                 .done = h->done,
                                 .has_done = h->has_done,
                                 .has_eof = h->has_eof,
                                 .eof = h->eof,
                                 .has_granted = h->has_granted,
                                 .granted = h->granted };
    if (h->has_procedure)
        o->effect.procedure = procedure_find(h->program, 3, h->procedure);
    return o;
}

struct spooled *spool_take(struct spool *s, struct err *err)
{
    struct head h;
    struct spooled *o;
    size_t len;

    if (temporary_read(s->file, &h, sizeof(h), err) != 1)
        return NULL;
    len = (size_t)h.arguments_len + h.text_len + h.result_len;
    for (int i = 0; i < WHOSE_MAX; i++)
        len += (h.shown >> i & 1) * (size_t)FATTR3_LEN + (h.before >> i & 1) * (size_t)WCC_ATTR_LEN;
    len += h.entry_count * sizeof(uint32_t);
    o = make(&h, len, err);
    if (!o)
        return NULL;
    if (temporary_read(s->file, o + 1, len, err) != 1) {
        if (!err->code)
            err_set(err, ERR_SYSTEM, "an operation put aside has no end");
        free(o);
        return NULL;
    }
    lay_out(o, &h, (uint8_t *)(o + 1));
    return o;
}

struct spooled *spooled_new(const struct procedure *procedure, struct bytes arguments,
                            const uint32_t handle_at[2], uint32_t object, uint32_t parent2,
                            struct err *err)
{
    struct head h = { .object = object,
                      .parent2 = parent2,
                      .program = PROGRAM_NFS,
                      .has_procedure = 1,
                      .procedure = (uint8_t)procedure->number,
                      .arguments_len = arguments.len,
                      .arguments_length = arguments.len,
                      .handle_at = { handle_at[0], handle_at[1] } };
    struct spooled *o = make(&h, arguments.len, err);

    if (!o)
        return NULL;
    memcpy(o + 1, arguments.data, arguments.len);
    lay_out(o, &h, (uint8_t *)(o + 1));
    return o;
}
