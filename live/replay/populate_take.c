/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate_take.c
 *
 * The answers to populate's calls: what each step shows, and which one follows.
 */
#include "base/escape.h"
#include "replay/populate_parts.h"

#include <stdio.h>

enum {
    WRITERS_MOST = 16,
    SETS_MOST = 3,
    EMPTY_MOST = 30,
    NAMES_MOST = 4096, /* of one reply to READDIR */
    TEXT = 1200        /* of a name that is escaped */
};

int populate_step(struct item *item, enum step step, struct err *err)
{
    item->step = (uint8_t)step;
    return populate_send(item, err);
}

static bool makes(const struct item *item)
{
    return item->populate->setup->mode == POPULATE_MAKE;
}

static void note(struct item *item, const struct post_op_attr *attributes)
{
    item->has_attributes = attributes->attributes_follow;
    if (item->has_attributes)
        item->attributes = attributes->attributes;
}

/* The directory gets another mtime by a name that was made in it. */
static void touch_parent(struct item *item)
{
    struct populate *p = item->populate;

    if (!item->link && item->entry != PLAN_ROOT)
        p->places[p->plan->script->entries[item->entry].parent].flags |= PLACE_CHANGED;
}

/* --- an object is there */

/* What is left to do for an object's attributes: nothing, or a SETATTR. */
static int settle(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    const struct rdump_object *o = populate_object(item);
    uint32_t differ = item->has_attributes
                          ? attributes_differ(o, &item->attributes, p->setup->target->time_delta)
                          : 0;
    char text[ATTRIBUTES_TEXT];
    int result = 0;

    differ &= ATTRIBUTES_SET | ATTRIBUTE_RDEV;
    if (o->type == NF3DIR && p->phase == PHASE_OBJECTS) {
        if (differ || !item->has_attributes)
            p->places[item->object].flags |= PLACE_CHANGED;
    } else if (differ & ATTRIBUTES_SET && item->tries < SETS_MOST) {
        item->set = (differ & ATTRIBUTES_SET) | (differ & ATTRIBUTE_MTIME ? ATTRIBUTE_ATIME : 0);
        return populate_step(item, STEP_SET, err);
    } else if (differ) {
        result = populate_tell(item, attributes_words(o, &item->attributes, differ, text), err);
    }
    populate_done(item);
    return result;
}

static int compare(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    const struct rdump_object *o = populate_object(item);
    uint32_t differ = attributes_differ(o, &item->attributes, p->setup->target->time_delta);
    char text[ATTRIBUTES_TEXT];
    int result = 0;

    if (differ)
        result = populate_tell(item, attributes_words(o, &item->attributes, differ, text), err);
    if (result == 0 && o->type == NF3LNK && item->attributes.type == NF3LNK)
        return populate_step(item, STEP_READLINK, err);
    if (result == 0 && p->setup->reads && attributes_type(o) == NF3REG && o->size &&
        item->attributes.type == NF3REG && item->attributes.size == o->size)
        return populate_step(item, STEP_READ, err);
    populate_done(item);
    return result;
}

/* The file has to be written: it was just made, or an earlier run did not finish it. */
static bool to_be_written(const struct item *item, const struct rdump_object *o)
{
    const struct populate *p = item->populate;

    return attributes_type(o) == NF3REG && item->attributes.type == NF3REG && o->size &&
           p->setup->contents.kind != CONTENTS_SPARSE && !item->written &&
           (p->places[item->object].flags & PLACE_MADE ||
            attributes_differ(o, &item->attributes, p->setup->target->time_delta) &
                (ATTRIBUTE_SIZE | ATTRIBUTE_MTIME));
}

/* The object is there, with handle and attributes. */
static int have(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    const struct populate_setup *s = p->setup;
    const struct rdump_object *o = populate_object(item);
    struct place *place = &p->places[item->object];
    int result = 0;

    if (!item->has_attributes)
        return populate_step(item, STEP_GETATTR, err);
    place->known->fileid = item->attributes.fileid;
    if (o->type && o->type != item->attributes.type) {
        char room[ATTRIBUTES_TEXT];
        const char *text = attributes_words(o, &item->attributes, ATTRIBUTE_TYPE, room);

        if (makes(item))
            return populate_refuse(item, text, err);
        result = populate_tell(item, text, err);
        populate_done(item);
        return result;
    }
    *(place->flags & PLACE_MADE ? &p->counts->made : &p->counts->there) += 1;
    place->flags |= PLACE_THERE;
    if (s->found)
        result = s->found(s->ctx, o, populate_handle(p, item->object), &item->attributes, err);
    if (result < 0)
        return result;
    if (o->type == NF3DIR)
        populate_enter(p, item->object);
    if (s->mode == POPULATE_CHECK)
        return compare(item, err);
    if (s->mode == POPULATE_MAKE) {
        if (!to_be_written(item, o))
            return settle(item, err);
        return populate_write(item, err);
    }
    populate_done(item);
    return 0;
}

/* Devices and such are not for every server and every export. */
static bool may_be_refused(const struct item *item, uint32_t status)
{
    uint32_t type = attributes_type(populate_object(item));

    return type != NF3REG && type != NF3DIR && type != NF3LNK &&
           (status == NFS3ERR_PERM || status == NFS3ERR_NOTSUPP || status == NFS3ERR_BADTYPE ||
            status == NFS3ERR_ACCES || status == NFS3ERR_INVAL);
}

/* --- LOOKUP */

static int take_further(struct item *item, uint64_t fileid, bool has_fileid, struct err *err)
{
    int result = 0;

    if (has_fileid && fileid != item->populate->places[item->object].known->fileid) {
        if (makes(item))
            return populate_fail(item, "it is not a link to the file of the dump", NFS3ERR_EXIST,
                                 err);
        result = populate_tell(item, "is not a link to the file of the dump", err);
    }
    populate_done(item);
    return result;
}

static int take_lookup(struct item *item, struct bytes body, struct err *err)
{
    struct LOOKUP3res res;
    int result;

    bind_read(nfs3_binding(NFS3_LOOKUP)->result, body, &res);
    if (res.status == NFS3ERR_NOENT && makes(item))
        return populate_step(item, item->further ? STEP_LINK : STEP_MAKE, err);
    if (res.status == NFS3ERR_NOENT) {
        item->populate->counts->refused +=
            item->populate->setup->mode == POPULATE_FIND && may_be_refused(item, NFS3ERR_PERM);
        result = populate_tell(item, "is missing", err);
        populate_done(item);
        return result;
    }
    if (res.status)
        return populate_fail(item, "LOOKUP", res.status, err);
    if (item->further)
        return take_further(item, res.obj_attributes.attributes.fileid,
                            res.obj_attributes.attributes_follow, err);
    note(item, &res.obj_attributes);
    result = populate_keep(item, res.object, err);
    return result == 0 ? have(item, err) : result;
}

static int take_getattr(struct item *item, struct bytes body, struct err *err)
{
    struct GETATTR3res res;

    bind_read(nfs3_binding(NFS3_GETATTR)->result, body, &res);
    if (res.status)
        return populate_fail(item, "GETATTR", res.status, err);
    item->has_attributes = true;
    item->attributes = res.obj_attributes;
    return item->populate->places[item->object].flags & PLACE_THERE ? settle(item, err)
                                                                    : have(item, err);
}

/* --- making */

static int take_make(struct item *item, struct bytes body, struct err *err)
{
    struct populate *p = item->populate;
    struct CREATE3res res;
    char name[32], text[64];
    int result;

    bind_read(nfs3_binding(NFS3_CREATE)->result, body, &res);
    if (res.status == NFS3ERR_EXIST) { /* it was sent again after a lost connection */
        touch_parent(item);
        return populate_step(item, STEP_LOOKUP, err);
    }
    if (may_be_refused(item, res.status)) {
        p->counts->refused++;
        snprintf(text, sizeof(text), "cannot be made: %s", pipeline_status(res.status, name));
        result = populate_tell(item, text, err);
        populate_done(item);
        return result;
    }
    if (res.status)
        return populate_fail(item, "it cannot be made", res.status, err);
    p->places[item->object].flags |= PLACE_MADE;
    touch_parent(item);
    if (!res.obj_follows)
        return populate_step(item, STEP_LOOKUP, err);
    note(item, &res.obj_attributes);
    result = populate_keep(item, res.obj, err);
    return result == 0 ? have(item, err) : result;
}

static int take_link(struct item *item, struct bytes body, struct err *err)
{
    struct LINK3res res;

    bind_read(nfs3_binding(NFS3_LINK)->result, body, &res);
    if (res.status == NFS3ERR_EXIST) {
        touch_parent(item);
        return populate_step(item, STEP_LOOKUP, err);
    }
    if (res.status)
        return populate_fail(item, "it cannot be linked", res.status, err);
    item->populate->counts->links_made++;
    touch_parent(item);
    populate_done(item);
    return 0;
}

/* --- attributes */

static int take_set(struct item *item, struct bytes body, struct err *err)
{
    struct SETATTR3res res;

    bind_read(nfs3_binding(NFS3_SETATTR)->result, body, &res);
    if (res.status)
        return populate_fail(item, "its attributes cannot be set", res.status, err);
    item->populate->counts->set++;
    item->tries++;
    note(item, &res.obj_wcc.after);
    return item->has_attributes ? settle(item, err) : populate_step(item, STEP_GETATTR, err);
}

static int take_readlink(struct item *item, struct bytes body, struct err *err)
{
    const struct bytes text = rdump_link_text(populate_object(item));
    struct READLINK3res res;
    int result = 0;

    bind_read(nfs3_binding(NFS3_READLINK)->result, body, &res);
    if (res.status)
        return populate_fail(item, "READLINK", res.status, err);
    if (res.data.len != text.len || memcmp(res.data.data, text.data, text.len) != 0)
        result = populate_tell(item, "leads to another path", err);
    populate_done(item);
    return result;
}

/* --- names that the dump does not have */

static bool is_dot(struct bytes name)
{
    return (name.len == 1 && name.data[0] == '.') ||
           (name.len == 2 && name.data[0] == '.' && name.data[1] == '.');
}

static int take_list(struct item *item, struct bytes body, struct err *err)
{
    static struct entry3 entries[NAMES_MOST];
    struct READDIR3res res = { .entries = { entries, 0, NAMES_MOST } };
    char text[TEXT], name[TEXT - 64];
    int result = 0;

    if (bind_read(nfs3_binding(NFS3_READDIR)->result, body, &res) == WALK_STOPPED)
        return err_set(err, ERR_INPUT, "object %u: a listing of more than %d names in one reply",
                       item->object, NAMES_MOST);
    if (res.status)
        return populate_fail(item, "READDIR", res.status, err);
    for (uint32_t i = 0; i < res.entries.count && result == 0; i++) {
        item->cookie = entries[i].cookie;
        if (is_dot(entries[i].name) ||
            plan_has_name(item->populate->plan, item->object, entries[i].name))
            continue;
        snprintf(text, sizeof(text), "has \"%s\", which the dump does not have",
                 escape_to(name, sizeof(name), entries[i].name, false));
        result = populate_tell(item, text, err);
    }
    memcpy(item->cookie_verifier, res.cookieverf, sizeof(res.cookieverf));
    if (result == 0 && !res.eof && !res.entries.count)
        return populate_refuse(item, "READDIR gives neither entries nor the end", err);
    if (result == 0 && !res.eof)
        return populate_step(item, STEP_LIST, err);
    populate_done(item);
    return result;
}

/* --- all answers */

int populate_take(struct bound_call *call, const struct bound_answer *answer, struct err *err)
{
    typedef int taker(struct item *, struct bytes, struct err *);
    static taker *const takers[] = {
        [STEP_LOOKUP] = take_lookup,
        [STEP_GETATTR] = take_getattr,
        [STEP_MAKE] = take_make,
        [STEP_WRITE] = populate_written,
        [STEP_COMMIT] = populate_committed,
        [STEP_SET] = take_set,
        [STEP_LINK] = take_link,
        [STEP_READLINK] = take_readlink,
        [STEP_READ] = populate_was_read,
        [STEP_LIST] = take_list,
    };
    struct item *item = (struct item *)(void *)call;
    struct populate *p = item->populate;
    char path[PLAN_PATH];
    int result;

    if (p->ended)
        return 0;
    if (answer->problem)
        return err_set(err, answer->rpc->outcome == RPC_ANSWERED ? ERR_INPUT : ERR_SYSTEM,
                       "%.200s: %s", plan_path(p->plan, item->object, path), answer->problem);
    if (load_be32(answer->body.data) == NFS3ERR_JUKEBOX)
        return populate_again(item, err);
    result = takers[item->step](item, answer->body, err);
    return result == 0 ? populate_go_on(p, err) : result;
}
