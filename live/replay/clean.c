/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/clean.c
 *
 * A stack of directories.  The one on top is listed from its beginning: REMOVEs of all its names go
 * out together, and a name that is a directory goes onto the stack.  Listed again when all of them
 * are answered, it is empty some day, and is removed itself.  Cookies are not continued when names
 * went, because servers may forget them then.
 */
#include "replay/clean.h"
#include "base/escape.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CONNECTIONS = 4,
    LIST_BYTES = 32768,
    ENTRIES = 2048,
    NAME = 256,
    SHOWN = 512, /* of a name in a message */
    NAMES_AT_A_TIME = 512
};

struct directory {
    uint8_t handle[64], parent[64];
    uint8_t len, parent_len, name_len;
    uint8_t name[NAME];
};

/* A name under way. */
struct removal {
    struct bound_call call; /* first */
    struct clean *clean;
    struct removal *next;
    bool looked_up;
    uint8_t name_len;
    uint8_t name[NAME];
};

struct clean {
    const struct clean_setup *setup;
    struct clean_counts *counts;
    struct pipeline *pipeline;
    struct directory *stack;
    uint32_t count, cap;
    struct bound_call list;
    struct entry3 *entries;
    struct removal *removals, *free, *waiting, *again; /* |again|: the server was busy */
    uint32_t under_way, top, found;
    bool list_waits, list_again, ended;
    const char *last;
    bool kept; /* the listing at hand had |last| */
    struct timer progress, again_timer;
};

static int send_removal(struct removal *r, struct err *err);
static int go_on(struct clean *c, struct err *err);
static int list_on(struct clean *c, uint64_t cookie, const uint8_t *verifier, struct err *err);

static int fail(const char *what, struct bytes name, uint32_t status, struct err *err)
{
    char text[32], shown[SHOWN];

    return err_set(err, ERR_INPUT, "%s of \"%s\": %s", what,
                   escape_to(shown, sizeof(shown), name, false), pipeline_status(status, text));
}

static int push(struct clean *c, struct bytes handle, struct bytes parent, struct bytes name,
                struct err *err)
{
    struct directory *d;

    if (GROW(c->stack, c->count, c->cap) < 0)
        return err_memory(err, "directories");
    d = &c->stack[c->count++];
    d->len = (uint8_t)handle.len;
    memcpy(d->handle, handle.data, handle.len);
    d->parent_len = (uint8_t)parent.len;
    memcpy(d->parent, parent.data, parent.len);
    d->name_len = (uint8_t)name.len;
    memcpy(d->name, name.data, name.len);
    return 0;
}

/* The server is busy: what it did not do is asked again. */
static int wait_a_little(struct clean *c, struct err *err)
{
    return c->again_timer.place
               ? 0
               : loop_set(c->setup->loop, &c->again_timer, loop_clock() + PIPELINE_AGAIN, err);
}

/* --- a name: REMOVE; if it is a directory, LOOKUP */

static int done_with(struct removal *r, struct err *err)
{
    struct clean *c = r->clean;

    r->next = c->free;
    c->free = r;
    return --c->under_way ? 0 : go_on(c, err);
}

/* A directory in the one that was listed. */
static bool is_on_stack(const struct clean *c, struct bytes name)
{
    for (uint32_t i = c->top + 1; i < c->count; i++)
        if (c->stack[i].name_len == name.len && memcmp(c->stack[i].name, name.data, name.len) == 0)
            return true;
    return false;
}

static int took_lookup(struct removal *r, struct bytes body, struct err *err)
{
    struct clean *c = r->clean;
    const struct directory *top = &c->stack[c->top];
    struct bytes name = { r->name, r->name_len };
    uint8_t parent[64];
    uint32_t len = top->len;
    struct LOOKUP3res res;

    bind_read(nfs3_binding(NFS3_LOOKUP)->result, body, &res);
    if (res.status == NFS3ERR_NOENT)
        return done_with(r, err);
    if (res.status)
        return fail("LOOKUP", name, res.status, err);
    if (res.obj_attributes.attributes_follow && res.obj_attributes.attributes.type != NF3DIR)
        return fail("REMOVE", name, NFS3ERR_PERM, err);
    if (is_on_stack(c, name)) /* the listing had it twice */
        return done_with(r, err);
    memcpy(parent, top->handle, len); /* the stack may move */
    if (push(c, res.object, (struct bytes){ parent, len }, name, err) < 0)
        return -err->code;
    return done_with(r, err);
}

static int on_removal(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct removal *r = (struct removal *)(void *)call;
    struct REMOVE3res res;

    if (r->clean->ended)
        return 0;
    if (answer->problem)
        return err_set(err, answer->rpc->outcome == RPC_ANSWERED ? ERR_INPUT : ERR_SYSTEM, "%s",
                       answer->problem);
    if (load_be32(answer->body.data) == NFS3ERR_JUKEBOX) {
        r->next = r->clean->again;
        r->clean->again = r;
        return wait_a_little(r->clean, err);
    }
    if (r->looked_up)
        return took_lookup(r, answer->body, err);
    bind_read(nfs3_binding(NFS3_REMOVE)->result, answer->body, &res);
    if (res.status == 0 || res.status == NFS3ERR_NOENT) {
        r->clean->counts->files += res.status == 0;
        return done_with(r, err);
    }
    /* servers have different words for a directory */
    if (res.status != NFS3ERR_ISDIR && res.status != NFS3ERR_PERM && res.status != NFS3ERR_INVAL &&
        res.status != NFS3ERR_ACCES && res.status != NFS3ERR_NOTEMPTY &&
        res.status != NFS3ERR_EXIST)
        return fail("REMOVE", (struct bytes){ r->name, r->name_len }, res.status, err);
    r->looked_up = true;
    return send_removal(r, err);
}

static int send_removal(struct removal *r, struct err *err)
{
    struct clean *c = r->clean;
    const struct directory *top = &c->stack[c->top];
    struct diropargs3 at = { { top->handle, top->len }, { r->name, r->name_len } };
    struct REMOVE3args remove = { at };
    struct LOOKUP3args look_up = { at };
    int result;

    r->call.done = on_removal;
    result = r->looked_up ? pipeline_send(c->pipeline, &r->call, NFS3_LOOKUP, &look_up, err)
                          : pipeline_send(c->pipeline, &r->call, NFS3_REMOVE, &remove, err);
    if (result == RPC_CLIENT_FULL) {
        r->next = c->waiting;
        c->waiting = r;
        return 0;
    }
    return result;
}

/* --- a directory: READDIR, then RMDIR */

static bool is_dot(struct bytes name)
{
    return (name.len == 1 && name.data[0] == '.') ||
           (name.len == 2 && name.data[0] == '.' && name.data[1] == '.');
}

static int remove_name(struct clean *c, struct bytes name, struct err *err)
{
    struct removal *r = c->free;

    c->free = r->next;
    r->looked_up = false;
    r->name_len = (uint8_t)name.len;
    memcpy(r->name, name.data, r->name_len);
    c->found++;
    c->under_way++;
    return send_removal(r, err);
}

static struct bytes name_of(const char *text)
{
    return (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) };
}

static bool is_last(const struct clean *c, struct bytes name)
{
    return c->last && c->top == 0 && name.len == strlen(c->last) &&
           memcmp(name.data, c->last, name.len) == 0;
}

static int took_names(struct clean *c, const struct READDIR3res *res, struct err *err)
{
    int result = 0;

    c->found = 0;
    for (uint32_t i = 0; i < res->entries.count && result == 0 && c->free; i++) {
        struct bytes name = c->entries[i].name;

        if (is_dot(name) || name.len >= NAME)
            continue;
        if (is_last(c, name))
            c->kept = true;
        else
            result = remove_name(c, name, err);
    }
    return result;
}

static int send_rmdir(struct clean *c, struct err *err)
{
    const struct directory *d = &c->stack[c->top];
    struct REMOVE3args args = { { { d->parent, d->parent_len }, { d->name, d->name_len } } };

    return pipeline_send(c->pipeline, &c->list, NFS3_RMDIR, &args, err);
}

static int on_rmdir(struct clean *c, struct bytes body, struct err *err)
{
    const struct directory *d = &c->stack[c->top];
    struct REMOVE3res res;

    bind_read(nfs3_binding(NFS3_RMDIR)->result, body, &res);
    if (res.status && res.status != NFS3ERR_NOENT)
        return fail("RMDIR", (struct bytes){ d->name, d->name_len }, res.status, err);
    c->counts->directories++;
    c->count--;
    return go_on(c, err);
}

static int on_list(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    struct clean *c = (struct clean *)(void *)((char *)call - offsetof(struct clean, list));
    struct READDIR3res res = { .entries = { c->entries, 0, ENTRIES } };
    const struct directory *d = &c->stack[c->top];
    char shown[SHOWN];
    int result;

    if (c->ended)
        return 0;
    if (answer->problem)
        return err_set(err, answer->rpc->outcome == RPC_ANSWERED ? ERR_INPUT : ERR_SYSTEM, "%s",
                       answer->problem);
    if (load_be32(answer->body.data) == NFS3ERR_JUKEBOX) {
        c->list_again = true;
        return wait_a_little(c, err);
    }
    if (call->procedure == NFS3_RMDIR)
        return on_rmdir(c, answer->body, err);
    bind_read(nfs3_binding(NFS3_READDIR)->result, answer->body, &res);
    if (res.status)
        return fail("READDIR", (struct bytes){ d->name, d->name_len }, res.status, err);
    result = took_names(c, &res, err);
    if (result < 0 || c->found)
        return result;
    if (!res.eof && c->kept && res.entries.count)
        return list_on(c, c->entries[res.entries.count - 1].cookie, res.cookieverf, err);
    if (c->kept && res.eof)
        return remove_name(c, name_of(c->last), err);
    if (!res.eof)
        return err_set(
            err, ERR_INPUT, "READDIR of \"%s\" gives neither names nor the end",
            escape_to(shown, sizeof(shown), (struct bytes){ d->name, d->name_len }, false));
    return send_rmdir(c, err);
}

static int list_on(struct clean *c, uint64_t cookie, const uint8_t *verifier, struct err *err)
{
    const struct directory *top = &c->stack[c->top];
    struct READDIR3args args = { { top->handle, top->len }, .cookie = cookie, .count = LIST_BYTES };
    int result;

    if (verifier)
        memcpy(args.cookieverf, verifier, sizeof(args.cookieverf));
    result = pipeline_send(c->pipeline, &c->list, NFS3_READDIR, &args, err);
    c->list_waits = result == RPC_CLIENT_FULL;
    return result < 0 ? result : 0;
}

/* The directory on top, if nothing is under way in another one. */
static int go_on(struct clean *c, struct err *err)
{
    if (!c->count) {
        c->ended = true;
        loop_stop(c->setup->loop);
        return 0;
    }
    c->top = c->count - 1;
    c->kept = false;
    return list_on(c, 0, NULL, err);
}

static int send_all(struct removal **from, struct err *err)
{
    struct removal *list = *from;
    int result = 0;

    *from = NULL;
    while (list && result == 0) {
        struct removal *r = list;

        list = r->next;
        result = send_removal(r, err);
    }
    return result;
}

static int on_room(void *ctx, struct err *err)
{
    struct clean *c = ctx;
    int result = send_all(&c->waiting, err);

    return result == 0 && c->list_waits ? go_on(c, err) : result;
}

static int on_again(void *ctx, struct err *err)
{
    struct clean *c = ctx;
    int result = send_all(&c->again, err);

    if (result < 0 || !c->list_again)
        return result;
    c->list_again = false;
    return go_on(c, err);
}

static int on_progress(void *ctx, struct err *err)
{
    struct clean *c = ctx;
    int result = c->setup->progress(c->setup->ctx, c->counts, err);

    return result == 0
               ? loop_set(c->setup->loop, &c->progress, loop_now(c->setup->loop) + 250000000, err)
               : result;
}

/* --- all of it */

/* Finds the handle and the type of a name.  Returns the status, or a negative code. */
static int look_up(struct clean *c, const struct diropargs3 *at, struct directory *found,
                   uint32_t *type, struct err *err)
{
    struct LOOKUP3args args = { *at };
    struct GETATTR3args of = { { found->handle, 0 } };
    struct LOOKUP3res res;
    struct GETATTR3res got;
    int result = pipeline_ask(c->pipeline, NFS3_LOOKUP, &args, &res, err);

    if (result)
        return result;
    of.object.len = res.object.len;
    memcpy(found->handle, res.object.data, res.object.len);
    found->len = (uint8_t)res.object.len;
    *type = res.obj_attributes.attributes.type;
    if (res.obj_attributes.attributes_follow)
        return 0;
    result = pipeline_ask(c->pipeline, NFS3_GETATTR, &of, &got, err);
    *type = got.obj_attributes.type;
    return result;
}

/* Removes what is no directory, and puts a directory onto the stack. */
static int begin(struct clean *c, struct bytes parent, struct bytes name, struct err *err)
{
    struct REMOVE3args remove = { { parent, name } };
    struct directory found;
    struct REMOVE3res removed;
    uint32_t type;
    int result = look_up(c, &remove.object, &found, &type, err);

    if (result < 0 || result == NFS3ERR_NOENT)
        return result < 0 ? result : 0;
    if (result)
        return fail("LOOKUP", name, (uint32_t)result, err);
    if (type == NF3DIR)
        return push(c, (struct bytes){ found.handle, found.len }, parent, name, err);
    result = pipeline_ask(c->pipeline, NFS3_REMOVE, &remove, &removed, err);
    c->counts->files += result == 0;
    return result > 0 ? fail("REMOVE", name, (uint32_t)result, err) : result;
}

static int run(struct clean *c, struct err *err)
{
    int result = 0;

    c->ended = false;
    if (c->setup->progress)
        result = loop_set(c->setup->loop, &c->progress, loop_clock() + 250000000, err);
    if (result == 0)
        result = go_on(c, err);
    if (result == 0 && !c->ended)
        result = loop_run(c->setup->loop, err);
    c->counts->interrupted = result == 0 && !c->ended;
    loop_unset(c->setup->loop, &c->progress);
    loop_unset(c->setup->loop, &c->again_timer);
    return result;
}

int clean(const struct clean_setup *setup, const struct clean_names *names,
          struct clean_counts *counts, struct err *err)
{
    struct clean c = { .setup = setup, .counts = counts, .last = names->last };
    struct pipeline_setup pipeline = { .loop = setup->loop,
                                       .target = setup->target,
                                       .connections =
                                           setup->connections ? setup->connections : CONNECTIONS,
                                       .room = on_room,
                                       .ctx = &c };
    int result = 0;

    c.list.done = on_list;
    c.progress = (struct timer){ .due = on_progress, .ctx = &c };
    c.again_timer = (struct timer){ .due = on_again, .ctx = &c };
    c.entries = calloc(ENTRIES, sizeof(*c.entries));
    c.removals = calloc(NAMES_AT_A_TIME, sizeof(*c.removals));
    c.pipeline = pipeline_new(&pipeline, err);
    if (!c.entries || !c.removals)
        result = err_memory(err, "names");
    else if (!c.pipeline)
        result = -err->code;
    for (uint32_t i = 0; result == 0 && i < NAMES_AT_A_TIME; i++) {
        c.removals[i].clean = &c;
        c.removals[i].next = c.free;
        c.free = &c.removals[i];
    }
    for (uint32_t i = 0; i < names->count && result == 0 && !counts->interrupted; i++) {
        result = begin(&c, names->parent, names->names[i], err);
        if (result == 0 && c.count)
            result = run(&c, err);
    }
    c.ended = true;
    pipeline_free(c.pipeline);
    free(c.stack);
    free(c.entries);
    free(c.removals);
    return result;
}
