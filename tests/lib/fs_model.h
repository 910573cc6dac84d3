/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/fs_model.h
 *
 * A second implementation of live/fs/fs.h, so naive that it is obviously right: flat arrays of
 * objects and of names, linear searches, every sum counted again when it is asked for.  Without
 * access lists and unstable writes.  Files up to MODEL_SIZE bytes.
 */
#ifndef NFSDIGEST_TESTS_FS_MODEL_H
#define NFSDIGEST_TESTS_FS_MODEL_H

#include "fill/fill.h"
#include "fs/fs.h"

#include <string.h>

enum { MODEL_OBJECTS = 64, MODEL_NAMES = 128, MODEL_PAGES = 6, MODEL_SIZE = MODEL_PAGES * 4096 };

struct model_object {
    bool is;
    struct fattr3 a; /* without nlink, used, and a directory's size */
    uint8_t verifier[8], data[MODEL_SIZE], text[64];
    bool exclusive, page[MODEL_PAGES];
    uint64_t last_cookie; /* of a directory */
    uint64_t made_up;     /* the end of contents that are (fs_set_fill) */
};

struct model_name {
    bool is;
    int dir, object;
    uint64_t cookie;
    char name[8];
};

static struct model {
    struct model_object object[MODEL_OBJECTS]; /* [0] is the root */
    struct model_name name[MODEL_NAMES];
    struct fs_config config;
    struct nfstime3 now;
} model;

static inline void model_begin(const struct fs_config *config, struct nfstime3 now)
{
    struct model_object *root = &model.object[0];

    memset(&model, 0, sizeof(model));
    model.config = *config;
    root->is = true;
    root->last_cookie = 2;
    root->a = (struct fattr3){
        .type = NF3DIR, .mode = config->root_mode, .atime = now, .mtime = now, .ctime = now
    };
}

/* --- asking */

static inline struct model_name *model_find(int dir, const char *name)
{
    for (int i = 0; i < MODEL_NAMES; i++)
        if (model.name[i].is && model.name[i].dir == dir && !strcmp(model.name[i].name, name))
            return &model.name[i];
    return NULL;
}

static inline int model_parent(int dir)
{
    for (int i = 0; i < MODEL_NAMES; i++)
        if (model.name[i].is && model.name[i].object == dir)
            return model.name[i].dir;
    return 0;
}

static inline uint32_t model_entries(int dir)
{
    uint32_t count = 0;

    for (int i = 0; i < MODEL_NAMES; i++)
        count += model.name[i].is && model.name[i].dir == dir;
    return count;
}

static inline uint32_t model_links(int object)
{
    uint32_t count = model.object[object].a.type == NF3DIR ? 2 : 0;

    for (int i = 0; i < MODEL_NAMES; i++)
        if (model.name[i].is && (model.object[object].a.type == NF3DIR
                                     ? model.name[i].dir == object &&
                                           model.object[model.name[i].object].a.type == NF3DIR
                                     : model.name[i].object == object))
            count++;
    return count;
}

static inline uint32_t model_pages(const struct model_object *o)
{
    uint32_t count = o->a.type == NF3LNK && o->a.size > 59;

    for (int i = 0; i < MODEL_PAGES; i++)
        count += o->page[i];
    return count;
}

static inline struct fattr3 model_attributes(int object)
{
    struct fattr3 a = model.object[object].a;
    uint64_t made_up = (model.object[object].made_up + 4095) / 4096 * 4096;

    a.nlink = model_links(object);
    a.used = model_pages(&model.object[object]) * UINT64_C(4096);
    if (a.used < made_up)
        a.used = made_up;
    if (a.type == NF3DIR)
        a.size = (model_entries(object) + 2) * UINT64_C(32);
    return a;
}

static inline bool model_in(const struct fs_caller *c, uint32_t gid)
{
    bool in = c->gid == gid;

    for (uint32_t i = 0; i < c->gid_count; i++)
        in = in || c->gids[i] == gid;
    return in;
}

static inline bool model_may(const struct fs_caller *c, int object, char what)
{
    const struct fattr3 *a = &model.object[object].a;
    uint32_t bit = what == 'r' ? 4 : what == 'w' ? 2 : 1;

    if (c->uid == 0)
        return what != 'x' || a->type == NF3DIR || a->mode & 0111;
    if (c->uid == a->uid)
        return a->mode & bit << 6;
    return model_in(c, a->gid) ? a->mode & bit << 3 : a->mode & bit;
}

static inline bool model_owns(const struct fs_caller *c, int object)
{
    return c->uid == 0 || c->uid == model.object[object].a.uid;
}

/* To take a name of |object| out of |dir|. */
static inline bool model_may_take(const struct fs_caller *c, int dir, int object)
{
    return model_may(c, dir, 'w') && model_may(c, dir, 'x') &&
           (!(model.object[dir].a.mode & 01000) || model_owns(c, dir) || model_owns(c, object));
}

/* --- space */

static inline enum nfsstat3 model_room(uint32_t uid, bool any, uint32_t pages, uint32_t objects)
{
    uint64_t all_pages = 0, all = 0, user_pages = 0, user = 0;
    const struct fs_config *c = &model.config;

    for (int i = 0; i < MODEL_OBJECTS; i++) {
        if (!model.object[i].is)
            continue;
        all_pages += model_pages(&model.object[i]);
        all++;
        if (model.object[i].a.uid == uid) {
            user_pages += model_pages(&model.object[i]);
            user++;
        }
    }
    if (any && pages && c->capacity && (all_pages + pages) * 4096 > c->capacity)
        return NFS3ERR_NOSPC;
    if (any && objects && c->objects && all + objects > c->objects)
        return NFS3ERR_NOSPC;
    if (uid && pages && c->user_capacity && (user_pages + pages) * 4096 > c->user_capacity)
        return NFS3ERR_DQUOT;
    if (uid && objects && c->user_objects && user + objects > c->user_objects)
        return NFS3ERR_DQUOT;
    return NFS3_OK;
}

static inline bool model_names_are_full(void)
{
    uint64_t count = 0;

    for (int i = 0; i < MODEL_NAMES; i++)
        count += model.name[i].is;
    return model.config.objects && count >= model.config.objects;
}

/* --- changing */

static inline void model_touch(int dir)
{
    model.object[dir].a.mtime = model.object[dir].a.ctime = model.now;
}

static inline void model_add(int dir, const char *name, int object)
{
    for (int i = 0; i < MODEL_NAMES; i++)
        if (!model.name[i].is) {
            model.name[i] =
                (struct model_name){ true, dir, object, ++model.object[dir].last_cookie, "" };
            memcpy(model.name[i].name, name, strlen(name) + 1);
            return;
        }
}

static inline void model_lost_name(int object)
{
    model.object[object].a.ctime = model.now;
    if (model.object[object].a.type == NF3DIR || model_links(object) == 0)
        model.object[object].is = false;
}

static inline enum nfsstat3 model_seek(const struct fs_caller *c, int dir)
{
    if (model.object[dir].a.type != NF3DIR)
        return NFS3ERR_NOTDIR;
    return model_may(c, dir, 'x') ? NFS3_OK : NFS3ERR_ACCES;
}

static inline bool model_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

static inline enum nfsstat3 model_lookup(const struct fs_caller *c, int dir, const char *name,
                                         int *object)
{
    enum nfsstat3 status = model_seek(c, dir);

    if (status)
        return status;
    if (model_dots(name)) {
        *object = name[1] ? model_parent(dir) : dir;
        return NFS3_OK;
    }
    if (!model_find(dir, name))
        return NFS3ERR_NOENT;
    *object = model_find(dir, name)->object;
    return NFS3_OK;
}

static inline void model_resize(struct model_object *o, uint64_t size)
{
    if (size < o->a.size)
        memset(o->data + size, 0, o->a.size - size);
    for (uint64_t page = (size + 4095) / 4096; page < MODEL_PAGES; page++)
        o->page[page] = false;
    o->a.size = size;
    if (o->made_up > size)
        o->made_up = size;
}

static inline enum nfsstat3 model_set_fill(int object, uint64_t key, uint64_t size)
{
    struct model_object *o = &model.object[object];

    if (o->a.type != NF3REG)
        return NFS3ERR_INVAL;
    model_resize(o, 0);
    fill_copy(key, 0, o->data, size);
    o->made_up = o->a.size = size;
    return NFS3_OK;
}

static inline uint32_t model_no_set_id(uint32_t mode)
{
    return mode & 010 ? mode & ~06000u : mode & ~04000u;
}

static inline enum nfsstat3 model_may_set(const struct fs_caller *c, int object,
                                          const struct sattr3 *to)
{
    const struct fattr3 *a = &model.object[object].a;
    bool mine = model_owns(c, object);

    if (c->uid && ((to->set_mode || to->set_uid || to->set_gid) && !mine))
        return NFS3ERR_PERM;
    if (c->uid && to->set_uid && to->uid != a->uid)
        return NFS3ERR_PERM;
    if (c->uid && to->set_gid && to->gid != a->gid && !model_in(c, to->gid))
        return NFS3ERR_PERM;
    if (!mine && (to->set_atime == SET_TO_CLIENT_TIME || to->set_mtime == SET_TO_CLIENT_TIME))
        return NFS3ERR_PERM;
    if (!mine && (to->set_atime || to->set_mtime) && !model_may(c, object, 'w'))
        return NFS3ERR_ACCES;
    if (to->set_size && a->type != NF3REG)
        return NFS3ERR_INVAL;
    if (to->set_size && !mine && !model_may(c, object, 'w'))
        return NFS3ERR_ACCES;
    return NFS3_OK;
}

static inline enum nfsstat3 model_setattr(const struct fs_caller *c, int object,
                                          const struct sattr3 *to)
{
    struct model_object *o = &model.object[object];
    struct fattr3 *a = &o->a;
    enum nfsstat3 status;
    bool is_plain = a->type != NF3DIR && a->type != NF3LNK;

    if (!to->set_mode && !to->set_uid && !to->set_gid && !to->set_size && !to->set_atime &&
        !to->set_mtime)
        return NFS3_OK;
    status = model_may_set(c, object, to);
    if (!status && to->set_uid && to->uid != a->uid)
        status = model_room(to->uid, false, model_pages(o), 1);
    if (status)
        return status;
    if (to->set_uid)
        a->uid = to->uid;
    if (to->set_gid)
        a->gid = to->gid;
    if (to->set_mode && a->type != NF3LNK)
        a->mode = to->mode & 07777;
    if (is_plain && (to->set_uid || to->set_gid))
        a->mode = model_no_set_id(a->mode);
    if (to->set_mode && c->uid && !model_in(c, a->gid) && a->type != NF3LNK)
        a->mode &= ~02000u;
    if (to->set_size && c->uid && !to->set_mode)
        a->mode = model_no_set_id(a->mode);
    if (to->set_size) {
        model_resize(o, to->size);
        a->mtime = model.now;
    }
    if (to->set_atime)
        a->atime = to->set_atime == SET_TO_CLIENT_TIME ? to->atime : model.now;
    if (to->set_mtime)
        a->mtime = to->set_mtime == SET_TO_CLIENT_TIME ? to->mtime : model.now;
    a->ctime = model.now;
    return NFS3_OK;
}

static inline enum nfsstat3 model_write(const struct fs_caller *c, int object, uint64_t offset,
                                        struct bytes data)
{
    struct model_object *o = &model.object[object];
    bool needs[MODEL_PAGES] = { false };
    uint32_t more = 0;
    enum nfsstat3 status;

    if (o->a.type != NF3REG)
        return NFS3ERR_INVAL;
    if (!model_owns(c, object) && !model_may(c, object, 'w'))
        return NFS3ERR_ACCES;
    if (!data.len)
        return NFS3_OK;
    for (uint32_t i = 0; i < data.len; i++)
        if ((data.data[i] || offset + i < o->made_up) && !o->page[(offset + i) / 4096])
            needs[(offset + i) / 4096] = true;
    for (int i = 0; i < MODEL_PAGES; i++)
        more += needs[i];
    status = model_room(o->a.uid, true, more, 0);
    if (status)
        return status;
    for (int i = 0; i < MODEL_PAGES; i++)
        o->page[i] = o->page[i] || needs[i];
    memcpy(o->data + offset, data.data, data.len);
    if (o->a.size < offset + data.len)
        o->a.size = offset + data.len;
    if (c->uid)
        o->a.mode = model_no_set_id(o->a.mode);
    o->a.mtime = o->a.ctime = model.now;
    return NFS3_OK;
}

static inline enum nfsstat3 model_again(const struct fs_caller *c, int object,
                                        const struct fs_new *n)
{
    const struct model_object *o = &model.object[object];
    struct sattr3 size = { .set_size = n->attributes.set_size, .size = n->attributes.size };

    if (n->type != NF3REG || o->a.type != NF3REG || n->how == GUARDED)
        return NFS3ERR_EXIST;
    if (n->how == UNCHECKED)
        return model_setattr(c, object, &size);
    return o->exclusive && !memcmp(o->verifier, n->verifier, 8) ? NFS3_OK : NFS3ERR_EXIST;
}

static inline void model_fill(struct model_object *o, const struct fs_caller *c,
                              const struct fattr3 *dir, const struct fs_new *n)
{
    const struct sattr3 none = { 0 }, *asked = n->how == EXCLUSIVE ? &none : &n->attributes;

    memset(o, 0, sizeof(*o));
    o->last_cookie = 2;
    o->exclusive = n->how == EXCLUSIVE;
    memcpy(o->verifier, n->verifier, 8);
    o->a = (struct fattr3){ .type = n->type,
                            .uid = c->uid,
                            .gid = c->gid,
                            .atime = model.now,
                            .mtime = model.now,
                            .ctime = model.now };
    if (asked->set_mode)
        o->a.mode = asked->mode & 07777;
    if (dir->mode & 02000)
        o->a.gid = dir->gid;
    if (dir->mode & 02000 && n->type == NF3DIR)
        o->a.mode |= 02000;
    if (!c->uid && asked->set_uid)
        o->a.uid = asked->uid;
    if (!c->uid && asked->set_gid)
        o->a.gid = asked->gid;
    if (n->type == NF3REG && c->uid && o->a.mode & 010 && !model_in(c, o->a.gid))
        o->a.mode &= ~02000u;
    if (n->type == NF3LNK) {
        o->a.mode = 0777;
        o->a.size = n->link_text.len;
        memcpy(o->text, n->link_text.data, n->link_text.len);
    }
    if (n->type == NF3CHR)
        o->a.rdev = n->rdev;
    if (n->type == NF3REG && asked->set_size)
        o->a.size = asked->size;
    if (asked->set_atime == SET_TO_CLIENT_TIME)
        o->a.atime = asked->atime;
    if (asked->set_mtime == SET_TO_CLIENT_TIME)
        o->a.mtime = asked->mtime;
}

static inline enum nfsstat3 model_make(const struct fs_caller *c, int dir, const char *name,
                                       const struct fs_new *n, int *object)
{
    enum nfsstat3 status = model_seek(c, dir);
    struct model_object made;
    int at = 1;

    if (status)
        return status;
    if (n->type == NF3CHR && c->uid)
        return NFS3ERR_PERM;
    if (model_dots(name))
        return NFS3ERR_EXIST;
    if (model_find(dir, name)) {
        *object = model_find(dir, name)->object;
        return model_again(c, *object, n);
    }
    if (!model_may(c, dir, 'w'))
        return NFS3ERR_ACCES;
    model_fill(&made, c, &model.object[dir].a, n);
    if (model_names_are_full())
        return NFS3ERR_NOSPC;
    status = model_room(made.a.uid, true, model_pages(&made), 1);
    if (status)
        return status;
    while (model.object[at].is)
        at++;
    made.is = true;
    model.object[at] = made;
    model_add(dir, name, at);
    model_touch(dir);
    *object = at;
    return NFS3_OK;
}

static inline enum nfsstat3 model_remove(const struct fs_caller *c, int dir, const char *name,
                                         bool directory)
{
    enum nfsstat3 status = model_seek(c, dir);
    struct model_name *n;

    if (status)
        return status;
    if (model_dots(name))
        return !directory ? NFS3ERR_ACCES : name[1] ? NFS3ERR_EXIST : NFS3ERR_INVAL;
    n = model_find(dir, name);
    if (!n)
        return NFS3ERR_NOENT;
    if (!model_may_take(c, dir, n->object))
        return NFS3ERR_ACCES;
    if (model.object[n->object].a.type == NF3DIR && !directory)
        return NFS3ERR_ISDIR;
    if (model.object[n->object].a.type != NF3DIR && directory)
        return NFS3ERR_NOTDIR;
    if (directory && model_entries(n->object))
        return NFS3ERR_NOTEMPTY;
    n->is = false;
    model_lost_name(n->object);
    model_touch(dir);
    return NFS3_OK;
}

static inline enum nfsstat3 model_link(const struct fs_caller *c, int object, int dir,
                                       const char *name)
{
    enum nfsstat3 status = model_seek(c, dir);

    if (status)
        return status;
    if (model.object[object].a.type == NF3DIR)
        return NFS3ERR_INVAL;
    if (model_dots(name) || model_find(dir, name))
        return NFS3ERR_EXIST;
    if (!model_may(c, dir, 'w'))
        return NFS3ERR_ACCES;
    if (model_names_are_full())
        return NFS3ERR_NOSPC;
    model_add(dir, name, object);
    model.object[object].a.ctime = model.now;
    model_touch(dir);
    return NFS3_OK;
}

static inline bool model_below(int dir, int top)
{
    while (dir != top && dir)
        dir = model_parent(dir);
    return dir == top;
}

static inline enum nfsstat3 model_may_rename(const struct fs_caller *c, int from_dir, int source,
                                             int to_dir, const struct model_name *target)
{
    bool dir = model.object[source].a.type == NF3DIR, over;

    if (!model_may_take(c, from_dir, source))
        return NFS3ERR_ACCES;
    if (dir && model_below(to_dir, source))
        return NFS3ERR_INVAL;
    if (target ? !model_may_take(c, to_dir, target->object) : !model_may(c, to_dir, 'w'))
        return NFS3ERR_ACCES;
    if (dir && from_dir != to_dir && !model_may(c, source, 'w'))
        return NFS3ERR_ACCES;
    if (!target)
        return model_names_are_full() ? NFS3ERR_NOSPC : NFS3_OK;
    over = model.object[target->object].a.type == NF3DIR;
    if (dir != over)
        return dir ? NFS3ERR_NOTDIR : NFS3ERR_ISDIR;
    return over && model_entries(target->object) ? NFS3ERR_NOTEMPTY : NFS3_OK;
}

static inline enum nfsstat3 model_rename(const struct fs_caller *c, int from_dir, const char *from,
                                         int to_dir, const char *to)
{
    enum nfsstat3 status = model_seek(c, from_dir);
    struct model_name *source, *target;
    int object;

    if (!status)
        status = model_seek(c, to_dir);
    if (status)
        return status;
    if (model_dots(from) || model_dots(to))
        return NFS3ERR_INVAL;
    source = model_find(from_dir, from);
    if (!source)
        return NFS3ERR_NOENT;
    target = model_find(to_dir, to);
    object = source->object;
    if (target && target->object == object)
        return NFS3_OK;
    status = model_may_rename(c, from_dir, object, to_dir, target);
    if (status)
        return status;
    source->is = false;
    if (target) {
        int gone = target->object;

        target->object = object;
        model_lost_name(gone);
    } else {
        model_add(to_dir, to, object);
    }
    model.object[object].a.ctime = model.now;
    model_touch(from_dir);
    model_touch(to_dir);
    return NFS3_OK;
}

#endif
