/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/replay/populate_send.c
 *
 * The arguments of populate's calls.
 */
#include "replay/populate_parts.h"

struct bytes populate_handle(const struct populate *p, uint32_t object)
{
    const struct known *known = p->places[object].known;

    return known ? (struct bytes){ known->handle, known->len } : (struct bytes){ 0 };
}

/* The directory and name of the item. */
static struct diropargs3 where(const struct item *item)
{
    const struct populate *p = item->populate;
    const struct rdump_entry *entry;

    if (item->link)
        return (struct diropargs3){ p->setup->scratch,
                                    { (const uint8_t *)item->name, (uint32_t)strlen(item->name) } };
    if (item->entry == PLAN_ROOT)
        return (struct diropargs3){ { p->setup->target->root, p->setup->target->root_len },
                                    { (const uint8_t *)item->name, (uint32_t)strlen(item->name) } };
    entry = &p->plan->script->entries[item->entry];
    return (struct diropargs3){ populate_handle(p, entry->parent), entry->name };
}

/* What of the attributes is given when an object is made.  A file's times come after its contents.
 */
static uint32_t set_at_once(const struct item *item, const struct rdump_object *o)
{
    uint32_t type = attributes_type(o);
    bool written =
        type == NF3REG && o->size && item->populate->setup->contents.kind != CONTENTS_SPARSE;

    return ATTRIBUTE_MODE | ATTRIBUTES_OWNER | (written ? 0 : ATTRIBUTES_TIMES) |
           (type == NF3REG && o->size && !written ? ATTRIBUTE_SIZE : 0);
}

static int send_make(struct item *item, const struct rdump_object *o, struct err *err)
{
    struct pipeline *pipeline = item->populate->pipeline;
    struct sattr3 set = attributes_set(o, set_at_once(item, o));
    struct diropargs3 at = where(item);
    uint32_t type = attributes_type(o);

    if (type == NF3REG) {
        struct CREATE3args args = { at, { .mode = GUARDED, .obj_attributes = set } };

        return pipeline_send(pipeline, &item->call, NFS3_CREATE, &args, err);
    }
    if (type == NF3DIR) {
        struct MKDIR3args args = { at, set };

        return pipeline_send(pipeline, &item->call, NFS3_MKDIR, &args, err);
    }
    if (type == NF3LNK) {
        struct SYMLINK3args args = { at, { set, rdump_link_text(o) } };

        return pipeline_send(pipeline, &item->call, NFS3_SYMLINK, &args, err);
    }
    struct MKNOD3args args = { at, { type, set, { o->rdev[0], o->rdev[1] } } };

    return pipeline_send(pipeline, &item->call, NFS3_MKNOD, &args, err);
}

static int send_write(struct item *item, const struct rdump_object *o, struct err *err)
{
    struct populate *p = item->populate;
    uint32_t count = (uint32_t)(item->end - item->offset); /* at most |write_most| */
    struct WRITE3args args = { .file = populate_handle(p, item->object),
                               .offset = item->offset,
                               .count = count,
                               .stable = count == o->size ? FILE_SYNC : UNSTABLE };

    args.data.len = count;
    args.data.data = contents_at(&p->setup->contents, item->object, item->offset, count, p->room);
    if (args.data.data != p->room) { /* they stay where they are */
        item->call.tail = args.data;
        args.data.len = 0;
    }
    return pipeline_send(p->pipeline, &item->call, NFS3_WRITE, &args, err);
}

static int send_read(struct item *item, const struct rdump_object *o, struct err *err)
{
    struct populate *p = item->populate;
    uint64_t left = o->size - item->offset;
    struct READ3args args = { .file = populate_handle(p, item->object),
                              .offset = item->offset,
                              .count = left < p->read_most ? (uint32_t)left : p->read_most };

    return pipeline_send(p->pipeline, &item->call, NFS3_READ, &args, err);
}

static int send_list(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    struct READDIR3args args = { .dir = populate_handle(p, item->object),
                                 .cookie = item->cookie,
                                 .count = 32768 };

    if (p->setup->target->dtpref >= 1024 && p->setup->target->dtpref < args.count)
        args.count = p->setup->target->dtpref;
    memcpy(args.cookieverf, item->cookie_verifier, sizeof(args.cookieverf));
    return pipeline_send(p->pipeline, &item->call, NFS3_READDIR, &args, err);
}

static int send_step(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    const struct rdump_object *o = plan_object(p->plan, item->object);
    struct bytes handle = populate_handle(p, item->object);

    item->call.tail = (struct bytes){ 0 };
    switch ((enum step)item->step) {
    case STEP_LOOKUP: {
        struct LOOKUP3args args = { where(item) };

        return pipeline_send(p->pipeline, &item->call, NFS3_LOOKUP, &args, err);
    }
    case STEP_GETATTR: {
        struct GETATTR3args args = { handle };

        return pipeline_send(p->pipeline, &item->call, NFS3_GETATTR, &args, err);
    }
    case STEP_MAKE:
        return send_make(item, o, err);
    case STEP_WRITE:
        return send_write(item, o, err);
    case STEP_COMMIT: {
        struct COMMIT3args args = { handle, 0, 0 };

        return pipeline_send(p->pipeline, &item->call, NFS3_COMMIT, &args, err);
    }
    case STEP_SET: {
        struct SETATTR3args args = { handle, attributes_set(o, item->set), { false, { 0, 0 } } };

        return pipeline_send(p->pipeline, &item->call, NFS3_SETATTR, &args, err);
    }
    case STEP_LINK: {
        struct LINK3args args = { handle, where(item) };

        return pipeline_send(p->pipeline, &item->call, NFS3_LINK, &args, err);
    }
    case STEP_READLINK: {
        struct READLINK3args args = { handle };

        return pipeline_send(p->pipeline, &item->call, NFS3_READLINK, &args, err);
    }
    case STEP_READ:
        return send_read(item, o, err);
    case STEP_LIST:
        return send_list(item, err);
    }
    return 0;
}

int populate_send(struct item *item, struct err *err)
{
    struct populate *p = item->populate;
    int result = send_step(item, err);

    if (result == RPC_CLIENT_FULL) {
        item->next = NULL;
        *p->waiting_end = item;
        p->waiting_end = &item->next;
        return 0;
    }
    p->counts->calls += result == 0;
    return result;
}
