/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/learn.c
 *
 * What the reference's traffic tells of objects: that they are there, their names, which the tap's
 * engine finds, and their attributes.
 */
#include "shadow/paths.h"
#include "shadow/shadow_parts.h"
#include "wire/nfs3_numbers.h"

#include <xxhash.h>

#define SECOND INT64_C(1000000000)

static int learn_object(struct shadow *s, const struct record_object *record, struct err *err)
{
    struct err why = { 0 };
    struct mirror_object *object = known_object(s, record->handle, &why);

    if (!object)
        return why.code == ERR_INPUT ? 0 : err_set(err, ERR_SYSTEM, "%s", why.text);
    if (record->type)
        mirror_set_type(object, record->type);
    return record->fileid ? mirror_set_fileid(s->mirror, object, record->fileid, err) : 0;
}

/* The mirror's object with an id of the tap's engine; NULL: it was forgotten, and perhaps the copy
 * alone has found it again. */
static struct mirror_object *object_of(const struct shadow *s, uint64_t id)
{
    struct bytes handle = tap_handle(s->tap, id);
    struct mirror_object *object = handle.len ? mirror_find(s->mirror, handle) : NULL;

    return object && object->id < s->known_end && known_of(s, object->id)->is_there ? object : NULL;
}

static void note_removed(struct shadow *s, uint32_t object)
{
    s->removed[s->removed[0] ? 1 : 0] = object;
}

static int learn_name(struct shadow *s, const struct record_name *record, struct err *err)
{
    struct mirror_object *object = object_of(s, record->object);
    struct mirror_object *parent = object_of(s, record->parent);

    if (!object || !parent) {
        s->removed_unknown |= record->event == NAME_REMOVED || record->event == NAME_GONE;
        return 0;
    }
    if (record->event != NAME_SEEN)
        known_of(s, object->id)->seen.is_known = false; /* its ctime may have changed */
    if (record->event == NAME_REMOVED)
        note_removed(s, object->id);
    if (record->event == NAME_GONE)
        s->names_gone[s->next_gone++ % NAMES_GONE] =
            (struct name_gone){ parent->id, object->id,
                                XXH3_64bits(record->name.data, record->name.len), s->position };
    if (record->event == NAME_REMOVED || record->event == NAME_GONE) {
        if (!mirror_remove_name(s->mirror, object, parent, record->name))
            paths_nameless(s, object);
        return 0;
    }
    if (record->event == NAME_MOVED)
        s->moved = object->id;
    paths_named(s, object, parent, record);
    return mirror_add_name(s->mirror, object, parent, record->name, err);
}

int learn_record(struct shadow *s, const struct record *record, struct err *err)
{
    if (record->kind == RECORD_OBJECT)
        return learn_object(s, &record->object, err);
    return record->kind == RECORD_NAME ? learn_name(s, &record->name, err) : 0;
}

uint32_t learn_gone(const struct shadow *s)
{
    return s->removed[0] != s->moved ? s->removed[0] : s->removed[1];
}

static uint32_t named(const struct shadow *s, uint64_t directory, struct bytes name)
{
    const struct mirror_object *object =
        name.len && s->tap ? object_of(s, tap_named(s->tap, directory, name)) : NULL;

    return object ? object->id : 0;
}

/* What the name stood for when |r| was called. */
static uint32_t named_before(const struct shadow *s, const struct request *r, uint32_t parent,
                             struct bytes name)
{
    uint64_t hash = XXH3_64bits(name.data, name.len);

    for (uint32_t i = 0; parent && i < NAMES_GONE; i++) {
        const struct name_gone *n = &s->names_gone[i];

        if (n->parent == parent && n->hash == hash && n->entry > r->begin)
            return n->object;
    }
    return 0;
}

struct named learn_named(const struct shadow *s, const struct request *r,
                         const struct record_operation *op)
{
    const struct effect *e = effect_of(r);
    struct named found = { 0 };

    if (e->succeeded) {
        found = (struct named){ .gone = learn_gone(s), .moved = s->moved };
        if (!found.gone && effect_takes_name(e) && !effect_moves(e))
            found.gone = named_before(s, r, e->parent, e->name);
        else if (!found.gone && effect_moves(e))
            found.gone = named_before(s, r, e->parent2, e->name2);
        return found;
    }
    if (!effect_changes_names(e))
        return found;
    if (e->parent)
        found.first = named(s, op->object, e->name);
    if (e->name2_role)
        found.second = named(s, op->object2, e->name2);
    return found;
}

int learn_removed(struct shadow *s, const struct request *r, uint32_t id, struct err *err)
{
    struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    if (!object || object->names || known_of(s, id)->is_linked || object->is_root)
        return 0;
    /* the copy does not count names; a LINK may have given it another one just before */
    if ((object->type != OBJECT_DIR && !known_of(s, id)->has_links) || touches_rival(s, r, id))
        return dispatch_again(s, object, r->begin, err);
    if (mirror_set_state(s->mirror, object, MIRROR_GONE, err) < 0)
        return -err->code;
    return known_of(s, id)->is_held ? dispatch_unplayed(s, id, err) : 0;
}

void learn_forget(struct shadow *s, uint32_t id)
{
    struct mirror_object *object = mirror_at(s->mirror, id);

    if (s->is_ending || !object || object->state != MIRROR_GONE || touches_of(s, id) ||
        rare_of(s, id)->gone_early)
        return;
    copy_leave(s->copy, object);
    teelog_forget(s->log, id);
    mirror_forget(s->mirror, object);
    known_forget(s, id);
}

void learn_forget_gone(struct shadow *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->gone_count; i++) {
        const struct gone_early gone = s->gone[i];
        struct known_rare *rare = known_rare_find(s, gone.object);

        if (gone.found >= tap_ring_caught_up(s->ring)) {
            s->gone[kept++] = gone;
            continue;
        }
        if (rare)
            rare->gone_early = false;
        learn_forget(s, gone.object);
    }
    s->gone_count = kept;
}

/* --- attributes */

static const enum whose whose_of[TEE_OBJECTS] = {
    [TEE_OBJECT] = OF_OBJECT, [TEE_PARENT2] = OF_PARENT2, [TEE_NEW] = OF_NEW_OBJECT
};

/* What a server says, and between which entries of the ring it said so. */
struct saying {
    uint64_t begin, end;
    int64_t time;                           /* of |end|, ns since 1970 */
    const struct attributes_before *before; /* NULL: it does not say */
    const struct attributes *after;
};

static void note_unknown_names(struct shadow *s, const struct request *r)
{
    const struct effect *e = effect_of(r);

    if (!e->succeeded || !effect_takes_name(e))
        return;
    if (effect_moves(e) && !s->moved)
        s->moved_unknown = r->end;
    if (e->procedure->type != NF3DIR && !learn_gone(s))
        s->gone_unknown = r->end;
}

/* Somebody else has changed the object: what the server had before is not what it had last. */
static bool is_behind(const struct attributes_seen *seen, const struct saying *it)
{
    const struct attributes_before *b = it->before;
    const struct attributes *a = it->after;

    if (!seen->is_known || seen->end > it->begin)
        return false;
    if (b)
        return seen_digest_of(seen) != seen_digest(b->size, b->mtime, b->ctime);
    return a && seen_digest_of(seen) != seen_digest(a->size, a->mtime, a->ctime);
}

/* Of size, mtime and ctime, ctime alone is another one. */
static bool is_ctime_alone(const struct attributes_seen *seen, const struct saying *it)
{
    const struct attributes_before *b = it->before;
    const struct attributes *a = it->after;

    if (b)
        return seen->contents == seen_contents(b->size, b->mtime);
    return a && seen->contents == seen_contents(a->size, a->mtime);
}

/* Since it was seen, a client moved something, or took a name of a file, and nobody knows which one
 * it was: that may be why its ctime is another one. */
static bool may_be_renamed(const struct shadow *s, const struct mirror_object *object,
                           const struct saying *it)
{
    const struct known *k = known_of(s, object->id);
    bool may_be_linked = object->type != OBJECT_DIR && (!k->has_links || k->was_linked);

    return is_ctime_alone(&k->seen, it) &&
           (k->seen.end <= s->moved_unknown || (may_be_linked && k->seen.end <= s->gone_unknown));
}

int learn_behind(struct shadow *s, struct mirror_object *object, uint64_t since, struct err *err)
{
    s->counts.behind += object->state == MIRROR_SYNCHRONIZED;
    return dispatch_again(s, object, since, err);
}

static void see(struct known *k, const struct saying *it, const struct attributes *a)
{
    struct attributes_seen *seen = &k->seen;
    const uint64_t digest = seen_digest(a->size, a->mtime, a->ctime);
    const uint32_t at = (uint32_t)((it->time + SECOND - 1) / SECOND);
    bool is_same = seen->is_known && seen_digest_of(seen) == digest;

    *seen = (struct attributes_seen){ .is_known = true,
                                      .since = is_same ? seen->since : it->end,
                                      .at = is_same ? seen->at : at,
                                      .end = it->end,
                                      .digest_high = digest >> 32,
                                      .digest_low = (uint32_t)digest,
                                      .contents = seen_contents(a->size, a->mtime) };
}

/* A request that takes or makes names may change the ctime of an object that is not known before
 * its reply. */
static bool names_may_change(const struct shadow *s, uint64_t end)
{
    for (const struct request *r = request_at(s, s->called.first); r && r->begin < end;
         r = request_at(s, r->next))
        if (r->changes_names)
            return true;
    return false;
}

/* Attributes of an object that the request did not change. */
static int learn_unchanged(struct shadow *s, struct mirror_object *object, const struct saying *it,
                           struct err *err)
{
    struct known *k = known_get(s, object->id, err);

    if (!k)
        return -err->code;
    if (touches_changing(s, object->id, it->begin) || names_may_change(s, it->end)) {
        k->seen.is_known = false;
        return 0;
    }
    if (is_behind(&k->seen, it) && object->state != MIRROR_COPYING &&
        !may_be_renamed(s, object, it) && learn_behind(s, object, it->begin, err) < 0)
        return -err->code;
    see(k, it, it->after);
    return 0;
}

static bool changes_object(const struct request *r, uint32_t object)
{
    for (const struct touch *t = touch_at(r->shadow, r->touches); t;
         t = touch_at(r->shadow, t->further))
        if (t->object == object && touch_changes(t))
            return true;
    return false;
}

/* An entry of the SUT's READDIRPLUS. */
static int learn_link(void *ctx, const struct effect_entry *entry)
{
    struct shadow *s = ctx;
    const struct mirror_object *object = entry->handle.len && entry->has_attributes &&
                                                 entry->attributes.type != OBJECT_DIR &&
                                                 entry->attributes.nlink > 1
                                             ? mirror_find_sut(s->mirror, entry->handle)
                                             : NULL;

    if (object && object->id < s->known_end) /* or only the copy knows it so far */
        known_of(s, object->id)->was_linked = true;
    return 0;
}

void learn_links(struct shadow *s, const struct request *r, const struct effect *sut)
{
    if (sut->succeeded && effect_action(sut) == ACTION_LIST)
        effect_entries(sut, learn_link, s);

    for (uint32_t i = 0; i < TEE_OBJECTS; i++) {
        enum whose whose = i == TEE_OBJECT && effect_of(r)->parent ? OF_PARENT : whose_of[i];
        struct attributes a;

        if (rest_of(r)->objects[i] && effect_attributes(sut, whose, &a) && a.type != OBJECT_DIR &&
            a.nlink > 1)
            known_of(s, rest_of(r)->objects[i])->was_linked = true;
    }
}

static int learn_one(struct shadow *s, struct request *r, uint32_t which, struct err *err)
{
    const struct effect *e = effect_of(r);
    uint32_t id = rest_of(r)->objects[which];
    enum whose whose = which == TEE_OBJECT && e->parent ? OF_PARENT : whose_of[which];
    struct mirror_object *object = mirror_at(s->mirror, id);
    struct known *k = known_of(s, id);
    struct attributes after;
    struct attributes_before before;
    bool has_after = effect_attributes(e, whose, &after), changes = changes_object(r, id);
    bool has_before = effect_before(e, whose, &before);
    bool has_rival = touches_rival(s, r, id);
    const struct saying it = { r->begin, r->end, e->done_time, has_before ? &before : NULL,
                               has_after && !changes ? &after : NULL };

    if (!has_rival && !names_may_change(s, r->end) && is_behind(&k->seen, &it) &&
        !may_be_renamed(s, object, &it) && learn_behind(s, object, r->begin, err) < 0)
        return -err->code;
    if (has_after) {
        if (after.type)
            mirror_set_type(object, after.type);
        if (after.fileid && mirror_set_fileid(s->mirror, object, after.fileid, err) < 0)
            return -err->code;
        k->has_links = true;
        k->is_linked = after.type != OBJECT_DIR && after.nlink > 1;
        k->was_linked |= k->is_linked;
    }
    if (has_after && !has_rival)
        see(k, &it, &after);
    else if (has_rival || changes)
        k->seen.is_known = false;
    return 0;
}

struct learning {
    struct shadow *s;
    struct saying it;
    struct err *err;
};

/* An entry of a READDIRPLUS. */
static int learn_entry(void *ctx, const struct effect_entry *entry)
{
    struct learning *l = ctx;
    struct mirror_object *object = entry->handle.len && entry->has_attributes
                                       ? mirror_find(l->s->mirror, entry->handle)
                                       : NULL;

    l->it.after = &entry->attributes;
    if (object && object->id < l->s->known_end && entry->attributes.type != OBJECT_DIR &&
        entry->attributes.nlink > 1)
        known_of(l->s, object->id)->was_linked = true;
    return object ? learn_unchanged(l->s, object, &l->it, l->err) : 0;
}

static int learn_entries(struct shadow *s, const struct effect *e, const struct saying *it,
                         struct err *err)
{
    struct learning l = { s, *it, err };

    return e->succeeded && effect_action(e) == ACTION_LIST ? effect_entries(e, learn_entry, &l) : 0;
}

int learn_attributes(struct shadow *s, struct request *r, struct err *err)
{
    uint32_t gone = learn_gone(s);
    const struct effect *e;

    if (gone)
        known_of(s, gone)->seen.is_known = false;
    note_unknown_names(s, r);
    for (uint32_t i = 0; i < TEE_OBJECTS; i++)
        if (rest_of(r)->objects[i] && learn_one(s, r, i, err) < 0)
            return -err->code;
    e = effect_of(r);
    return learn_entries(
        s, e, &(struct saying){ .begin = r->begin, .end = r->end, .time = e->done_time }, err);
}

int learn_own(struct shadow *s, const struct record_operation *op, struct err *err)
{
    struct effect e = effect_of_record(op);
    struct saying it = { .begin = op->call.frame, .end = op->reply.frame, .time = op->reply.time };
    struct mirror_object *object;
    struct attributes after;

    if (!e.procedure || (op->program != NFS3_PROGRAM && op->program != NFSACL_PROGRAM))
        return 0;
    effect_decode(&e);
    object = e.succeeded && !(e.roles & ROLE_PARENT) && e.handle.len
                 ? mirror_find(s->mirror, e.handle)
                 : NULL;
    it.after = &after;
    if (object && effect_attributes(&e, OF_OBJECT, &after) &&
        learn_unchanged(s, object, &it, err) < 0)
        return -err->code;
    return learn_entries(s, &e, &it, err);
}
