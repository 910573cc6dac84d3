/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/copy_shadow.h
 *
 * For test_copy_random: the host of the copy, which does what the shadow does in a simple way.  It
 * reads the ring, notes changes of objects that are copied, and makes those of synchronized objects
 * on the SUT, too, where each must succeed.
 */
#ifndef NFSDIGEST_UNIT_COPY_SHADOW_H
#define NFSDIGEST_UNIT_COPY_SHADOW_H

#include "copy_clients.h"

/* --- the host: conflicts */

static bool is_about_names(const struct op *op)
{
    return op->kind > SETATTR;
}

static bool shares(const struct op *a, const struct op *b)
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (is_same(&a->on[i], &b->on[j]) &&
                strcmp(a->name[a->kind == RENAME ? i : 0], b->name[b->kind == RENAME ? j : 0]) == 0)
                return true;
    return false;
}

static bool moves(const struct op *op)
{
    return op->kind == RENAME || op->kind == LINK;
}

static bool is_conflict(const struct op *a, const struct op *b)
{
    if (is_about_names(a) != is_about_names(b))
        return is_same(&a->on[0], &b->on[0]) || is_same(&a->on[0], &b->on[1]) ||
               is_same(&a->on[1], &b->on[0]);
    if (is_about_names(a))
        return shares(a, b) || moves(a) || moves(b);
    if (!is_same(&a->on[0], &b->on[0]))
        return false;
    return a->kind == SETATTR || b->kind == SETATTR ||
           (a->offset < b->offset + b->count && b->offset < a->offset + a->count);
}

/* Another operation that was under way at the same time changes the same. */
static bool has_rival(const struct op *op)
{
    for (int i = 0; i < OPS; i++) {
        const struct op *o = &sim.ops[i];

        if (o == op || o->state == FREE || !o->is_known || o->begin > op->end)
            continue;
        if (o->state == READ && (o->end < op->begin || o->status || o->is_nothing))
            continue;
        if (is_conflict(op, o))
            return true;
    }
    return false;
}

/* --- the host: duplicates */

static struct mirror_object *object_of(const struct h *h)
{
    return h->len ? mirror_find(sim.lab.mirror, bytes_of(h)) : NULL;
}

static void again(struct mirror_object *object)
{
    if (!object)
        return;
    if (object->state == MIRROR_SYNCHRONIZED) {
        assert_int_equal(mirror_set_state(sim.lab.mirror, object, MIRROR_QUEUED, NULL), 0);
        sim.mended++;
    }
    copy_wake(sim.lab.copy);
}

static uint32_t on_sut(const struct mirror_object *object)
{
    return object && object->sut_handle_len
               ? lab_find(&sim.lab, SUT_SIDE, mirror_sut_handle(sim.lab.mirror, object))
               : 0;
}

static void made_on_sut(const struct op *op, struct mirror_object *parent, uint32_t twin)
{
    struct mirror_object *child = mirror_add(sim.lab.mirror, bytes_of(&op->child), NULL);
    struct h h = handle_of(SUT_SIDE, twin);

    mirror_set_type(child, op->child_type);
    if (child->state == MIRROR_GONE)
        return;
    if (child->sut_handle_len) { /* the copy made another name of it before */
        again(parent);
        return;
    }
    mirror_set_sut_handle(sim.lab.mirror, child, bytes_of(&h), NULL);
    mirror_add_name(sim.lab.mirror, child, parent, lab_text(op->name[0]), NULL);
    mirror_set_state(sim.lab.mirror, child, MIRROR_QUEUED, NULL);
}

static enum nfsstat3 duplicate_names(const struct op *op, uint32_t a, uint32_t b)
{
    struct fs *sut = lab_fs(&sim.lab, SUT_SIDE);
    struct fs_new new_object = { .type = op->type,
                                 .how = GUARDED,
                                 .attributes = { .set_mode = true, .mode = 0644 },
                                 .link_text = lab_text("somewhere") };
    struct mirror_object *file = object_of(&op->file);
    enum nfsstat3 status;
    uint32_t twin;

    switch (op->kind) {
    case MAKE:
        status = fs_make(sut, &lab_root_user, a, lab_text(op->name[0]), &new_object, &twin);
        if (!status)
            made_on_sut(op, object_of(&op->on[0]), twin);
        return status;
    case REMOVE:
    case RMDIR:
        return fs_remove(sut, &lab_root_user, a, lab_text(op->name[0]), op->kind == RMDIR);
    case RENAME:
        return fs_rename(sut, &lab_root_user, a, lab_text(op->name[0]), b, lab_text(op->name[1]));
    default:
        twin = on_sut(file);
        if (twin)
            return fs_link(sut, &lab_root_user, twin, a, lab_text(op->name[0]));
        again(object_of(&op->on[0]));
        return NFS3_OK;
    }
}

/* It lost its last name on the SUT, but not on the reference. */
static void check_loser(const struct op *op)
{
    struct mirror_object *object = object_of(&op->loser);

    if (!object || object->state == MIRROR_GONE || on_sut(object))
        return;
    mirror_set_sut_handle(sim.lab.mirror, object, (struct bytes){ 0 }, NULL);
    mirror_set_state(sim.lab.mirror, object, MIRROR_UNKNOWN, NULL);
}

static void duplicate(const struct op *op)
{
    struct mirror_object *first = object_of(&op->on[0]), *second = object_of(&op->on[1]);
    struct fs *sut = lab_fs(&sim.lab, SUT_SIDE);
    uint32_t a = on_sut(first), b = on_sut(second);
    enum nfsstat3 status;

    if (!first || !second || first->state != MIRROR_SYNCHRONIZED ||
        second->state != MIRROR_SYNCHRONIZED) {
        again(first);
        again(second);
        return;
    }
    if (op->kind == WRITE)
        status = fs_write(sut, &lab_root_user, a, op->offset, (struct bytes){ op->data, op->count },
                          FILE_SYNC);
    else if (op->kind == SETATTR)
        status = fs_setattr(sut, &lab_root_user, a, &op->attributes, NULL);
    else
        status = duplicate_names(op, a, b);
    sim.duplicates++;
    if (status)
        fail_seed("kind %d of (%u, %s), (%u, %s) is %d on the SUT", op->kind, find(&op->on[0]),
                  op->name[0], find(&op->on[1]), op->name[1], status);
    check_loser(op);
}

static bool is_playing(const struct h *h)
{
    const struct mirror_object *object = object_of(h);

    for (uint32_t i = 0; object && i < sim.playing_count; i++)
        if (sim.playing[i] == object->id)
            return object->state == MIRROR_SYNCHRONIZED;
    return false;
}

static bool must_wait(const struct op *op, uint32_t before)
{
    if (is_playing(&op->on[0]) || is_playing(&op->on[1]))
        return true;
    for (uint32_t i = 0; i < before; i++)
        for (int j = 0; j < 2; j++)
            if (is_same(&op->on[j], &sim.held[i]->on[0]) ||
                is_same(&op->on[j], &sim.held[i]->on[1]) || is_about_names(op))
                return true;
    return false;
}

static void pump(void)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < sim.held_count; i++) {
        struct op *op = sim.held[i];

        if (must_wait(op, kept)) {
            sim.held[kept++] = op;
            continue;
        }
        op->is_held = false;
        duplicate(op);
    }
    sim.held_count = kept;
}

static bool is_held(const struct mirror_object *object)
{
    for (uint32_t i = 0; i < sim.held_count; i++)
        for (int j = 0; j < 2; j++)
            if (object_of(&sim.held[i]->on[j]) == object)
                return true;
    return false;
}

/* --- the host: changes */

static void note_one(const struct op *op, struct mirror_object *object, bool is_source)
{
    struct change_time time = { op->begin, op->end };
    struct change_child child = { .handle = bytes_of(&op->child), .type = (uint8_t)op->child_type };
    struct change_set *changes = mirror_changes(sim.lab.mirror, object);
    enum changes result = CHANGES_NOTED;
    uint8_t *data = op->count > 2 * BLOCK ? NULL : (uint8_t *)op->data;

    if (op->child_type == NF3LNK)
        child.link_text = lab_text("somewhere");
    if (next(10) == 0)
        child.handle.len = 0;
    switch (op->kind) {
    case WRITE:
        result = change_note_write(changes, time, op->offset, op->count, data);
        break;
    case SETATTR:
        result = change_note_attributes(changes, time, &op->attributes);
        break;
    case MAKE:
    case LINK:
        result = change_note_made(changes, time, lab_text(op->name[0]), &child);
        break;
    case REMOVE:
    case RMDIR:
        result = change_note_removed(changes, time, lab_text(op->name[0]), false);
        break;
    default:
        result = is_source ? change_note_removed(changes, time, lab_text(op->name[0]), true)
                           : change_note_made(changes, time, lab_text(op->name[1]), &child);
    }
    sim.noted++;
    copy_noted(sim.lab.copy, object, result);
}

static void note(const struct op *op, int which)
{
    struct mirror_object *object = object_of(&op->on[which]);

    if (object && object->state == MIRROR_COPYING && object->has_changes)
        note_one(op, object, which == 0);
}

static void bury(const struct op *op)
{
    struct mirror_object *object = object_of(&op->victim);

    if (object)
        mirror_set_state(sim.lab.mirror, object, MIRROR_GONE, NULL);
}

/* The directory that goes may have names on the SUT that it has no more on the reference. */
static bool may_be_full(const struct op *op)
{
    const struct mirror_object *loser = object_of(&op->loser);

    return (op->kind == RMDIR || op->kind == RENAME) && loser && loser->type == NF3DIR &&
           (loser->state != MIRROR_SYNCHRONIZED || is_playing(&op->loser));
}

static void finished(struct op *op)
{
    struct mirror_object *a = object_of(&op->on[0]), *b = object_of(&op->on[1]);
    bool rival;

    op->state = READ;
    if (op->status || op->is_nothing)
        return;
    rival = has_rival(op);
    sim.conflicts += rival;
    note(op, 0);
    if (op->kind == RENAME)
        note(op, 1);
    if (a && b && a->state == MIRROR_SYNCHRONIZED && b->state == MIRROR_SYNCHRONIZED && !rival &&
        !may_be_full(op)) {
        op->is_held = true;
        sim.held[sim.held_count++] = op;
    } else {
        again(a);
        again(b);
    }
    bury(op);
    pump();
}

static void read_entry(void)
{
    struct entry *entry;

    if (sim.first == sim.last)
        return;
    entry = &sim.entries[sim.first++ % ENTRIES];
    sim.lab.read = entry->position;
    if (!entry->op)
        copy_replied(sim.lab.copy, entry->xid, entry->position);
    else if (!entry->is_end)
        entry->op->is_known = true;
    else
        finished(entry->op);
    copy_wake(sim.lab.copy);
}

/* --- the host's functions */

static bool is_quiet(void *ctx, const struct mirror_object *object, uint64_t before)
{
    (void)ctx;
    for (int i = 0; i < OPS; i++) {
        const struct op *op = &sim.ops[i];

        if (op->state == FREE || op->state == READ || !op->is_known || op->begin > before)
            continue;
        if (object_of(&op->on[0]) == object || object_of(&op->on[1]) == object ||
            (op->kind == LINK && object_of(&op->file) == object))
            return false;
    }
    return !is_held(object);
}

static void drop_playing(const struct mirror_object *object)
{
    for (uint32_t i = sim.playing_count; i-- > 0;)
        if (sim.playing[i] == object->id)
            sim.playing[i] = sim.playing[--sim.playing_count];
}

static int on_synchronized(void *ctx, struct mirror_object *object, struct err *err)
{
    drop_playing(object); /* an earlier time that ended otherwise */
    sim.playing[sim.playing_count++] = object->id;
    return host_synchronized(ctx, object, err);
}

static int on_played(void *ctx, struct mirror_object *object, struct err *err)
{
    drop_playing(object);
    pump();
    return host_played(ctx, object, err);
}

static int on_failed(void *ctx, struct mirror_object *object, enum copy_why why, uint32_t tries,
                     const char *text, struct err *err)
{
    pump();
    return host_failed(ctx, object, why, tries, text, err);
}

/* Ids are given again, so what ended without |played| must not be taken for another object. */
static void forget_playing(void)
{
    for (uint32_t i = sim.playing_count; i-- > 0;) {
        const struct mirror_object *object = mirror_at(sim.lab.mirror, sim.playing[i]);

        if (!object || object->state != MIRROR_SYNCHRONIZED)
            sim.playing[i] = sim.playing[--sim.playing_count];
    }
}

static void forget_gone(void)
{
    struct mirror_object *object = mirror_next(sim.lab.mirror, NULL), *following;

    forget_playing();
    for (; object; object = following) {
        following = mirror_next(sim.lab.mirror, object);
        if (object->state != MIRROR_GONE || is_held(object) || next(2))
            continue;
        copy_leave(sim.lab.copy, object);
        mirror_forget(sim.lab.mirror, object);
    }
}

#endif
