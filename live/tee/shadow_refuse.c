/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/tee/shadow_refuse.c
 *
 * What is asked of both servers before a shadow begins.  For cmd_shadow.c; the contract is in
 * shadow_refuse.h.
 */
#include "tee/shadow_refuse.h"
#include "base/escape.h"
#include "effect/effect.h"
#include "tee/ask_server.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
    CREATE = 8,
    REMOVE = 12,
    READDIR = 16,
    LIST_BYTES = 8192,
    LISTS_MAX = 64, /* READDIRs */
    NAMES_SHOWN = 5,
    NAMES_LOOKED_UP = 200,
    LEVELS_MAX = 256, /* of directories above an export */
    TRIES = 4,
    MARKER_MAX = 48,
};

static struct asked_file root_of(const struct target *t)
{
    struct asked_file root = { .handle_len = t->root_len };

    memcpy(root.handle, t->root, t->root_len);
    return root;
}

/* --- the same directory by another address: a file that is made on the SUT */

static struct bytes name_marker(char name[MARKER_MAX])
{
    uint64_t number = 0;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = (uint64_t)loop_clock();
    snprintf(name, MARKER_MAX, ".nfstee-check-%016llx", (unsigned long long)number);
    return (struct bytes){ (const uint8_t *)name, (uint32_t)strlen(name) };
}

static int say_unable(const struct asking *sut, struct err *err)
{
    char text[BOUND_CALL_TEXT];

    if (sut->status == NFS3ERR_ACCES || sut->status == NFS3ERR_PERM)
        return err_set(err, ERR_USAGE,
                       "--sut: root may not make files there: export it with no_root_squash, or "
                       "see --sync-uid");
    bound_call_status(&sut->call, sut->status, text);
    return err_set(err, ERR_USAGE, "--sut: no file can be made there: %s", text);
}

/* A directory in which all may make files does not show that root is somebody else there. */
static int refuse_owner(const struct asking *sut, const struct post_op_attr *made, struct err *err)
{
    const uint32_t uid = sut->target->credential.uid;

    if (!made->attributes_follow || made->attributes.uid == uid)
        return 0;
    return err_set(err, ERR_USAGE,
                   "--sut: what user %u makes there is user %u's, so owners and modes cannot be "
                   "set: export it with no_root_squash, or see --sync-uid",
                   uid, made->attributes.uid);
}

static int refuse_same(struct asking *sut, struct asking *reference, struct err *err)
{
    char name[MARKER_MAX];
    const struct bytes marker = name_marker(name);
    const struct asked_file roots[] = { root_of(sut->target), root_of(reference->target) };
    const struct CREATE3args make = { .where = { asked_handle(&roots[0]), marker },
                                      .how = { .mode = GUARDED } };
    const struct REMOVE3args drop = { .object = { asked_handle(&roots[0]), marker } };
    struct asked_file found;
    struct err unseen, *problem = err;
    struct CREATE3res made = { .status = 0 };
    int is_there;

    if (asking_ask(sut, CREATE, &make, err) < 0)
        return -err->code;
    if (sut->status)
        return say_unable(sut, err);
    asking_read(sut, &made);
    is_there = asking_find(reference, asked_handle(&roots[1]), marker, &found, err);
    if (is_there < 0)
        problem = &unseen; /* what was made goes whatever the reference says */
    if (asking_ask(sut, REMOVE, &drop, problem) < 0 || is_there < 0)
        return -err->code;
    return is_there ? err_set(err, ERR_USAGE,
                              "--sut: that is the reference itself: what is made there shows up "
                              "behind the relay")
                    : refuse_owner(sut, &made.obj_attributes, err);
}

/* --- one within the other */

static bool is_time(const struct nfstime3 *a, const struct nfstime3 *b)
{
    return a->seconds == b->seconds && a->nseconds == b->nseconds;
}

/* Numbers of files begin anew on each server, but times are hardly equal. */
static bool is_same(const struct fattr3 *a, const struct fattr3 *b)
{
    return a->fsid == b->fsid && a->fileid == b->fileid && is_time(&a->mtime, &b->mtime) &&
           is_time(&a->ctime, &b->ctime);
}

/* Is the other server's root a directory above |from|'s?  1: it is. */
static int is_below(struct asking *from, struct asking *other, struct err *err)
{
    const struct bytes up = { (const uint8_t *)"..", 2 };
    struct asked_file at = root_of(from->target), root = root_of(other->target);
    int result = asking_attributes(from, &at, err);

    for (int level = 0; level < LEVELS_MAX && result > 0; level++) {
        struct asked_file above;

        result = asking_find(from, asked_handle(&at), up, &above, err);
        if (result > 0)
            result = asking_attributes(from, &above, err);
        if (result > 0 && above.attributes.fileid == at.attributes.fileid &&
            above.attributes.fsid == at.attributes.fsid)
            return 0; /* the root of the file system */
        if (result > 0)
            result = asking_attributes(other, &root, err);
        if (result > 0 && is_same(&above.attributes, &root.attributes))
            return 1;
        at = above;
    }
    return result < 0 ? result : 0;
}

static int refuse_nested(struct asking *sut, struct asking *reference, struct err *err)
{
    for (int try = 0; try < TRIES; try++) { /* its times may change between two questions */
        int below = is_below(sut, reference, err);
        int above = below == 0 ? is_below(reference, sut, err) : 0;

        if (below < 0 || above < 0)
            return -err->code;
        if (below)
            return err_set(err, ERR_USAGE,
                           "--sut: that is a directory in the reference's own export: it would be "
                           "copied into itself");
        if (above)
            return err_set(err, ERR_USAGE,
                           "--sut: the reference's export is in that one: what the copy removes "
                           "there would be the reference's");
    }
    return 0;
}

/* --- what is in it */

struct listing {
    struct asking *reference;
    struct asked_file root; /* the reference's */
    struct buf names;       /* of those that will be removed, each with a length before it */
    uint64_t count, cookie;
    bool has_more;
};

static int take_entry(void *ctx, const struct effect_entry *entry)
{
    struct listing *l = ctx;
    struct bytes name = entry->name;
    uint16_t length = (uint16_t)name.len;

    l->cookie = entry->cookie;
    if ((name.len <= 2 && memcmp(name.data, "..", name.len) == 0) || name.len > UINT16_MAX)
        return 0;
    if (l->count >= NAMES_LOOKED_UP) {
        l->has_more = true;
        return 0;
    }
    l->count++;
    return buf_append(&l->names, &length, sizeof(length)) < 0 ||
                   buf_append(&l->names, name.data, name.len) < 0
               ? -1
               : 0;
}

static int list(struct asking *sut, struct listing *l, struct err *err)
{
    struct asked_file root = root_of(sut->target);
    struct READDIR3args args = { .dir = asked_handle(&root), .count = LIST_BYTES };
    bool ends = false;

    for (int i = 0; i < LISTS_MAX && !ends && !l->has_more; i++) {
        struct READDIR3res res = { .eof = false };
        struct effect e = { .rpc_status = 0 };

        if (asking_ask(sut, READDIR, &args, err) < 0)
            return -err->code;
        if (sut->status)
            return err_set(err, ERR_USAGE, "--sut: its export cannot be listed");
        e.procedure = sut->call.table;
        e.result_body = (struct bytes){ sut->body.data, (uint32_t)sut->body.len };
        effect_decode_reply(&e);
        if (effect_entries(&e, take_entry, l) < 0)
            return err_memory(err, "a listing");
        asking_read(sut, &res);
        memcpy(args.cookieverf, res.cookieverf, sizeof(args.cookieverf));
        ends = e.eof || l->cookie == args.cookie;
        args.cookie = l->cookie;
    }
    l->has_more |= !ends;
    return 0;
}

static int say_name(struct buf *to, uint64_t number, struct bytes name, struct err *err)
{
    if (number >= NAMES_SHOWN)
        return 0;
    return buf_append(to, number ? ", \"" : "\"", number ? 3 : 1) < 0 ||
                   escape_name(name, false, to) < 0 || buf_append(to, "\"", 1) < 0
               ? err_memory(err, "a listing")
               : 0;
}

/* Appends the names that the reference does not have. */
static int say_removed(struct listing *l, struct buf *to, uint64_t *removed, struct err *err)
{
    size_t at = 0;

    *removed = 0;
    while (at + 2 <= l->names.len) {
        struct bytes name = { .data = l->names.data + at + 2 };
        struct asked_file found;
        uint16_t length;
        int is_there;

        memcpy(&length, l->names.data + at, sizeof(length));
        name.len = length;
        at += 2 + (size_t)length;
        is_there = asking_find(l->reference, asked_handle(&l->root), name, &found, err);
        if (is_there < 0 || (!is_there && say_name(to, (*removed)++, name, err) < 0))
            return -err->code;
    }
    return 0;
}

static int say(struct buf *to, const char *text, struct err *err)
{
    return buf_append(to, text, strlen(text)) < 0 ? err_memory(err, "a listing") : 0;
}

static int describe(struct listing *l, bool leaves_out, struct buf *to, struct err *err)
{
    uint64_t removed;
    char text[128];

    if (say_removed(l, to, &removed, err) < 0)
        return -err->code;
    if (removed > NAMES_SHOWN) {
        snprintf(text, sizeof(text), " and %s%llu others", l->has_more ? "at least " : "",
                 (unsigned long long)(removed - NAMES_SHOWN));
        if (say(to, text, err) < 0)
            return -err->code;
    }
    if (!removed && say(to, l->has_more ? "other names" : "no name at its top", err) < 0)
        return -err->code;
    if (say(to, ", with all below, and whatever else the reference does not have in the same place",
            err) < 0)
        return -err->code;
    return leaves_out ? say(to,
                            ".  What is below a name that both have, and that --exclude or --only "
                            "leaves out, stays",
                            err)
                      : 0;
}

static int look_inside(struct asking *sut, struct asking *reference,
                       const struct shadow_refusing *setup, struct buf *removed, struct err *err)
{
    struct listing l = { .reference = reference, .root = root_of(reference->target) };
    int result = list(sut, &l, err);

    if (result == 0 && l.count)
        result = describe(&l, setup->leaves_out, removed, err);
    if (result == 0 && l.count && !setup->overwrite)
        result = err_set(err, ERR_USAGE,
                         "--sut: the export is not empty.  --overwrite would remove from it: %.*s",
                         (int)removed->len, (const char *)removed->data);
    buf_free(&l.names);
    return result;
}

int shadow_refuse(const struct shadow_refusing *setup, struct buf *removed, struct err *err)
{
    struct asking of_reference = { .client = NULL }, of_sut = { .client = NULL };
    int result = asking_open(&of_sut, setup->loop, setup->sut, err);

    if (result == 0)
        result = asking_open(&of_reference, setup->loop, setup->reference, err);
    if (result == 0)
        result = refuse_same(&of_sut, &of_reference, err);
    if (result == 0)
        result = refuse_nested(&of_sut, &of_reference, err);
    if (result == 0)
        result = look_inside(&of_sut, &of_reference, setup, removed, err);
    asking_close(&of_sut);
    asking_close(&of_reference);
    return result;
}
