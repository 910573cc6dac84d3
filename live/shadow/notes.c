/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/notes.c
 *
 * Notes in the change sets of objects that are being copied (mirror/change_set.h) what clients
 * change in them meanwhile.
 */
#include "shadow/shadow_parts.h"
#include "wire/walk.h"

struct bytes notes_contents(const struct request *r)
{
    struct record_operation op;
    uint32_t from;

    if (!reading_operation(r, &op) || !(op.call.flags & SIGHTING_DATA))
        return (struct bytes){ 0 };
    from = reading_of(r)->header.body + op.arguments.len;
    if (from > rest_of(r)->call_len || op.data_length > rest_of(r)->call_len - from)
        return (struct bytes){ 0 };
    return (struct bytes){ rest_of(r)->call + from, (uint32_t)op.data_length };
}

/* --- sattr3 */

struct setting {
    struct sattr3 *to;
    struct nfstime3 *time; /* the one that comes */
    uint32_t times;
    bool is_over; /* a guard follows */
};

static int on_field(void *ctx, const struct visit *v)
{
    struct setting *g = ctx;
    const struct field *f = v->field;

    if (g->is_over || v->whole)
        return 0;
    if (f->role & ROLE_SETS_TIME) {
        *(g->times ? &g->to->set_mtime : &g->to->set_atime) = (uint32_t)v->value;
        g->time = g->times++ ? &g->to->mtime : &g->to->atime;
    } else if (f->cls == CLASS_TIME && g->time) {
        g->time->seconds = (uint32_t)v->value;
    } else if (f->cls == CLASS_INTERVAL && g->time) {
        g->time->nseconds = (uint32_t)v->value;
    }
    g->is_over = f->cls == CLASS_BOOLEAN && f->role & ROLE_SETS && g->times > 1;
    return 0;
}

static struct nfstime3 time_of(int64_t ns)
{
    return (struct nfstime3){ (uint32_t)(ns / 1000000000), (uint32_t)(ns % 1000000000) };
}

/* What the request sets.  Times of the server's clock are taken from the reply. */
static struct sattr3 read_attributes(const struct effect *e)
{
    struct sattr3 to = { .set_mode = e->asked.bits & ASKED_MODE,
                         .set_uid = e->asked.bits & ASKED_UID,
                         .set_gid = e->asked.bits & ASKED_GID,
                         .set_size = e->asked.bits & ASKED_SIZE,
                         .mode = e->asked.mode,
                         .uid = e->asked.uid,
                         .gid = e->asked.gid,
                         .size = e->asked.size };
    struct setting reading = { .to = &to };
    const struct visitor visitor = { .visit = on_field, .ctx = &reading };
    struct attributes after;
    struct walk w;

    walk(&w, e->procedure->arguments, e->arguments_body.data, e->arguments_body.len,
         e->arguments_length, false, &visitor);
    if (!effect_attributes(e, e->new_object ? OF_NEW_OBJECT : OF_OBJECT, &after))
        return to;
    if (to.set_atime == SET_TO_SERVER_TIME) {
        to.set_atime = SET_TO_CLIENT_TIME;
        to.atime = time_of(after.atime);
    }
    if (to.set_mtime == SET_TO_SERVER_TIME) {
        to.set_mtime = SET_TO_CLIENT_TIME;
        to.mtime = time_of(after.mtime);
    }
    return to;
}

/* --- the sets */

/* NULL: nobody copies it.  A set that is not open yet misses nothing. */
static struct mirror_object *copied(const struct shadow *s, uint32_t id)
{
    struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;

    return object && object->state == MIRROR_COPYING && object->has_changes ? object : NULL;
}

static struct change_time time_at(const struct request *r)
{
    return (struct change_time){ r->begin, r->end };
}

static struct change_child child_of(const struct shadow *s, const struct effect *e, uint32_t id)
{
    const struct mirror_object *object = id ? mirror_at(s->mirror, id) : NULL;
    struct change_child child = { .link_text = e->link_text };
    struct attributes a;

    if (object) {
        child.handle = mirror_handle(s->mirror, object);
        child.type = object->type;
    }
    if (!child.type)
        child.type = (uint8_t)(e->asked.bits & ASKED_TYPE ? e->asked.type : e->procedure->type);
    if (effect_attributes(e, OF_NEW_OBJECT, &a))
        child.device = (struct specdata3){ a.rdev[0], a.rdev[1] };
    return child;
}

static void note_attributes(struct shadow *s, struct request *r, uint32_t id)
{
    struct mirror_object *object = copied(s, id);
    struct sattr3 attributes;

    if (!object)
        return;
    attributes = read_attributes(effect_of(r));
    copy_noted(s->copy, object,
               change_note_attributes(mirror_changes(s->mirror, object), time_at(r), &attributes));
}

static void note_write(struct shadow *s, struct request *r)
{
    const struct effect *e = effect_of(r);
    struct mirror_object *object = copied(s, e->object);
    struct bytes contents = notes_contents(r);
    uint32_t count = (uint32_t)(e->has_done ? e->done : e->count);

    if (object)
        copy_noted(s->copy, object,
                   change_note_write(mirror_changes(s->mirror, object), time_at(r), e->offset,
                                     count, count <= contents.len ? contents.data : NULL));
}

/* A name of a file with several may have been moved onto another one of them, which changes nothing
 * (RFC 1813 s3.3.14), if it is not known what the other name stood for.  Then the directory keeps
 * its times. */
static bool may_be_still_there(const struct shadow *s, const struct effect *e)
{
    const struct mirror_object *moved = mirror_at(s->mirror, s->moved);
    const struct known *k = moved ? known_of(s, s->moved) : NULL;
    struct attributes_before before;
    struct attributes after;

    if (!k || moved->type == OBJECT_DIR || learn_gone(s) || (k->has_links && !k->is_linked))
        return false;
    return !effect_before(e, OF_PARENT, &before) || !effect_attributes(e, OF_PARENT, &after) ||
           before.ctime == after.ctime;
}

/* A RENAME of nobody knows what; or of one name of a file to another one of the same file, which
 * changes nothing (RFC 1813 s3.3.14). */
static int note_move_of_unknown(struct shadow *s, struct request *r, struct err *err)
{
    struct mirror_object *parent = copied(s, effect_of(r)->parent);
    struct mirror_object *second = copied(s, rest_of(r)->objects[TEE_PARENT2]);

    if (parent && dispatch_again(s, parent, r->begin, err) < 0)
        return -err->code;
    return second ? dispatch_again(s, second, r->begin, err) : 0;
}

static void note_names(struct shadow *s, struct request *r)
{
    const struct effect *e = effect_of(r);
    struct mirror_object *parent = copied(s, e->parent), *second = copied(s, e->parent2);
    struct change_child child = child_of(s, e,
                                         effect_makes_name(e) ? e->new_object
                                         : effect_moves(e)    ? s->moved
                                                              : e->object);

    if (parent && effect_takes_name(e))
        copy_noted(s->copy, parent,
                   change_note_removed(mirror_changes(s->mirror, parent), time_at(r), e->name,
                                       effect_moves(e)));
    if (parent && effect_makes_name(e))
        copy_noted(
            s->copy, parent,
            change_note_made(mirror_changes(s->mirror, parent), time_at(r), e->name, &child));
    if (second && effect_makes_name2(e))
        copy_noted(
            s->copy, second,
            change_note_made(mirror_changes(s->mirror, second), time_at(r), e->name2, &child));
}

int notes_take(struct shadow *s, struct request *r, struct err *err)
{
    const struct effect *e = effect_of(r);

    if (!e->succeeded)
        return 0;
    switch (effect_action(e)) {
    case ACTION_WRITE:
        note_write(s, r);
        break;
    case ACTION_SET:
        note_attributes(s, r, e->object);
        break;
    case ACTION_SET_OTHER:
        if (copied(s, e->object))
            return dispatch_again(s, mirror_at(s->mirror, e->object), r->begin, err);
        break;
    case ACTION_MAKE:
        note_attributes(s, r, e->new_object);
        note_names(s, r);
        break;
    case ACTION_RENAME:
        if (!s->moved || may_be_still_there(s, e))
            return note_move_of_unknown(s, r, err);
        note_names(s, r);
        break;
    case ACTION_REMOVE:
    case ACTION_LINK:
        note_names(s, r);
        break;
    default:
        break;
    }
    return 0;
}
