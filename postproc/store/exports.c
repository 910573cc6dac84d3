/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/store/exports.c
 *
 * Rows of paths and objects are read when an operation first names them, and what they lead to is
 * kept: the root of a path, the server and the file system of an object.  For operation_groups.c
 * and starve_read.c.  The contract is in exports.h.
 */
#include "store/exports.h"
#include "base/digest.h"
#include "base/grow.h"
#include "base/table.h"
#include "store/group_members.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS_MAX = 4096,      /* up a path: more than any that the engine makes */
    ANSWERS_MAX = 1 << 20, /* paths whose last answer is kept */
    KNOWN_MAX = 1 << 20    /* paths, and objects, that are read only once */
};

/* Texts by number. */
struct texts {
    struct table table;
    char **texts;
    uint32_t count, cap;
};

struct root {       /* of paths */
    uint32_t mount; /* its MOUNT path, or TABLE_NONE: */
    int64_t object; /* 0: none */
};

struct place { /* of an object */
    uint32_t server;
    bool has_fsid;
    int64_t fsid;
};

enum kind { BY_MOUNT, BY_FSID };

struct export
{
    uint32_t server;
    enum kind kind;
    int64_t value; /* MOUNT path or fsid */
};

/* The last one for a path: a path mostly names one object. */
struct answer {
    int64_t object; /* 0: none yet */
    uint32_t number;
};

struct exports {
    struct answer *answers; /* by path */
    uint32_t answer_cap;
    sqlite3_stmt *path, *object, *flow;
    struct texts servers, mounts;
    struct known_members paths, objects; /* numbers of |roots| and |places| */
    struct known_members mounted;        /* MOUNT paths of objects */
    struct root *roots;
    uint32_t root_count, root_cap;
    struct place *places;
    uint32_t place_count, place_cap;
    struct { /* the only MOUNT path of a file system, or TABLE_NONE if there are several */
        struct table table;
        struct filesystem {
            struct place place;
            uint32_t mount;
        } *list;
        uint32_t count, cap;
    } filesystems;
    struct table by_key;
    struct export *list;
    uint32_t count, cap;
};

/* Returns the number of |text|, or TABLE_NONE without memory. */
static uint32_t text_number(struct texts *t, const char *text)
{
    uint64_t hash = XXH3_64bits(text, strlen(text));
    uint32_t at;

    for (uint32_t i = table_first(&t->table, hash, &at); i != TABLE_NONE;
         i = table_next(&t->table, hash, &at))
        if (strcmp(t->texts[i], text) == 0)
            return i;
    if (GROW(t->texts, t->count, t->cap) < 0 || !(t->texts[t->count] = strdup(text)))
        return TABLE_NONE;
    if (table_add(&t->table, hash, t->count) < 0) {
        free(t->texts[t->count]);
        return TABLE_NONE;
    }
    return t->count++;
}

static void texts_free(struct texts *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        free(t->texts[i]);
    free(t->texts);
    table_free(&t->table);
}

/* --- objects and file systems */

/* Reads the row of an object; |place->server| is TABLE_NONE if there is none. */
static int read_place(struct exports *e, int64_t object, struct place *place, struct err *err)
{
    int result;

    *place = (struct place){ .server = TABLE_NONE };
    sqlite3_bind_int64(e->object, 1, object);
    result = sql_row(e->object, err);
    if (result > 0) {
        const char *server = sql_column_text(e->object, 0);

        place->server = text_number(&e->servers, server ? server : "");
        place->has_fsid = sqlite3_column_type(e->object, 1) != SQLITE_NULL;
        place->fsid = sqlite3_column_int64(e->object, 1);
        result = place->server == TABLE_NONE ? err_memory(err, "exports") : 0;
    }
    sqlite3_reset(e->object);
    return result;
}

/* Sets |place| to that of an object.  Returns 1, 0 if there is no such object, or a negative
 * code. */
static int place_of(struct exports *e, int64_t object, struct place *place, struct err *err)
{
    uint32_t known = known_members_find(&e->objects, object);

    if (known != TABLE_NONE) {
        *place = e->places[known];
    } else {
        if (read_place(e, object, place, err) < 0)
            return -err->code;
        if (e->place_count < KNOWN_MAX) {
            if (GROW(e->places, e->place_count, e->place_cap) < 0 ||
                known_members_add(&e->objects, object, e->place_count) == TABLE_NONE)
                return err_memory(err, "exports");
            e->places[e->place_count++] = *place;
        }
    }
    return place->server != TABLE_NONE;
}

static struct filesystem *filesystem_of(const struct exports *e, const struct place *place,
                                        uint64_t *hash)
{
    int64_t key[2] = { place->server, place->fsid };
    uint32_t at;

    *hash = XXH3_64bits(key, sizeof(key));
    for (uint32_t i = table_first(&e->filesystems.table, *hash, &at); i != TABLE_NONE;
         i = table_next(&e->filesystems.table, *hash, &at)) {
        struct filesystem *f = &e->filesystems.list[i];

        if (f->place.server == place->server && f->place.fsid == place->fsid)
            return f;
    }
    return NULL;
}

/* Takes a MOUNT path and its root. */
static int add_root(void *ctx, sqlite3_stmt *row, struct err *err)
{
    struct exports *e = ctx;
    const char *name = sql_column_text(row, 0);
    int64_t object = sqlite3_column_int64(row, 1);
    uint32_t mount = text_number(&e->mounts, name ? name : "");
    struct filesystem *filesystem;
    struct place place;
    uint64_t hash;
    int result =
        mount == TABLE_NONE ? err_memory(err, "exports") : place_of(e, object, &place, err);

    if (result <= 0)
        return result;
    if (known_members_find(&e->mounted, object) != TABLE_NONE)
        return 0; /* by another path, too: the first one counts */
    if (known_members_add(&e->mounted, object, mount) == TABLE_NONE)
        return err_memory(err, "exports");
    if (!place.has_fsid)
        return 0;
    filesystem = filesystem_of(e, &place, &hash);
    if (filesystem) {
        if (filesystem->mount != mount)
            filesystem->mount = TABLE_NONE;
        return 0;
    }
    if (GROW(e->filesystems.list, e->filesystems.count, e->filesystems.cap) < 0 ||
        table_add(&e->filesystems.table, hash, e->filesystems.count) < 0)
        return err_memory(err, "exports");
    e->filesystems.list[e->filesystems.count++] = (struct filesystem){ place, mount };
    return 0;
}

struct exports *exports_new(sqlite3 *db, struct err *err)
{
    struct exports *e = calloc(1, sizeof(*e));

    if (!e) {
        err_memory(err, "exports");
        return NULL;
    }
    if (sql_prepare(db, "SELECT parent, object, name FROM path WHERE id = ?1", &e->path, err) < 0 ||
        sql_prepare(db, "SELECT server, fsid FROM object WHERE id = ?1", &e->object, err) < 0 ||
        sql_prepare(db, "SELECT server FROM flow WHERE id = ?1", &e->flow, err) < 0 ||
        sql_each(db,
                 "SELECT name, object FROM name_event WHERE parent IS NULL AND object IS NOT NULL"
                 " ORDER BY id",
                 add_root, e, err) < 0) {
        exports_free(e);
        return NULL;
    }
    return e;
}

void exports_free(struct exports *e)
{
    if (!e)
        return;
    sqlite3_finalize(e->path);
    sqlite3_finalize(e->object);
    sqlite3_finalize(e->flow);
    texts_free(&e->servers);
    texts_free(&e->mounts);
    known_members_free(&e->paths);
    known_members_free(&e->objects);
    known_members_free(&e->mounted);
    free(e->roots);
    free(e->places);
    table_free(&e->filesystems.table);
    free(e->filesystems.list);
    table_free(&e->by_key);
    free(e->list);
    free(e->answers);
    free(e);
}

/* --- paths */

/* Reads a row of table path.  Returns its parent; 0: it has none, and |root| is set; or a negative
 * code. */
static int64_t step_up(struct exports *e, int64_t path, struct root *root, struct err *err)
{
    int64_t parent = 0;
    int result;

    sqlite3_bind_int64(e->path, 1, path);
    result = sql_row(e->path, err);
    if (result > 0 && sqlite3_column_type(e->path, 0) != SQLITE_NULL) {
        parent = sqlite3_column_int64(e->path, 0);
        parent = parent > 0 ? parent : 0;
    } else if (result > 0 && sqlite3_column_type(e->path, 1) != SQLITE_NULL) {
        root->object = sqlite3_column_int64(e->path, 1);
    } else if (result > 0) {
        const char *name = sql_column_text(e->path, 2);

        root->mount = text_number(&e->mounts, name ? name : "");
        if (root->mount == TABLE_NONE)
            result = err_memory(err, "exports");
    }
    sqlite3_reset(e->path);
    return result < 0 ? result : parent;
}

/* Sets the root of a path.  The paths on the way are known then, as far as there is room. */
static int root_of(struct exports *e, int64_t path, struct root *root, struct err *err)
{
    uint32_t known = known_members_find(&e->paths, path), steps = 0;
    int64_t way[STEPS_MAX], at = path;

    *root = (struct root){ .mount = TABLE_NONE };
    while (known == TABLE_NONE && at > 0 && steps < STEPS_MAX) {
        way[steps++] = at;
        at = step_up(e, at, root, err);
        if (at < 0)
            return -err->code;
        if (at > 0)
            known = known_members_find(&e->paths, at);
    }
    if (known != TABLE_NONE)
        *root = e->roots[known];
    if (!steps || e->paths.count >= KNOWN_MAX)
        return 0;
    if (known == TABLE_NONE) {
        if (GROW(e->roots, e->root_count, e->root_cap) < 0)
            return err_memory(err, "exports");
        known = e->root_count++;
        e->roots[known] = *root;
    }
    for (uint32_t i = 0; i < steps; i++)
        if (known_members_add(&e->paths, way[i], known) == TABLE_NONE)
            return err_memory(err, "exports");
    return 0;
}

/* --- exports */

static uint32_t by_key(struct exports *e, uint32_t server, enum kind kind, int64_t value,
                       struct err *err)
{
    int64_t key[3] = { server, kind, value };
    uint64_t hash = XXH3_64bits(key, sizeof(key));
    uint32_t at;

    for (uint32_t i = table_first(&e->by_key, hash, &at); i != TABLE_NONE;
         i = table_next(&e->by_key, hash, &at))
        if (e->list[i].server == server && e->list[i].kind == kind && e->list[i].value == value)
            return i;
    if (GROW(e->list, e->count, e->cap) < 0 || table_add(&e->by_key, hash, e->count) < 0) {
        err_memory(err, "exports");
        return TABLE_NONE;
    }
    e->list[e->count] = (struct export){ server, kind, value };
    return e->count++;
}

/* The export of an object of which no path from a MOUNT path is known. */
static uint32_t by_object(struct exports *e, int64_t object, struct err *err)
{
    uint32_t mount = known_members_find(&e->mounted, object);
    const struct filesystem *filesystem;
    struct place place;
    uint64_t hash;
    int result = place_of(e, object, &place, err);

    if (result < 0)
        return TABLE_NONE;
    if (result == 0)
        return EXPORT_NONE;
    if (mount != TABLE_NONE)
        return by_key(e, place.server, BY_MOUNT, mount, err);
    if (!place.has_fsid)
        return EXPORT_NONE;
    filesystem = filesystem_of(e, &place, &hash);
    return filesystem && filesystem->mount != TABLE_NONE
               ? by_key(e, place.server, BY_MOUNT, filesystem->mount, err)
               : by_key(e, place.server, BY_FSID, place.fsid, err);
}

/* Returns the server of a connection, or TABLE_NONE with |err| filled. */
static uint32_t server_of(struct exports *e, int64_t flow, struct err *err)
{
    const char *text = NULL;
    uint32_t server = TABLE_NONE;
    int result;

    sqlite3_bind_int64(e->flow, 1, flow);
    result = sql_row(e->flow, err);
    if (result > 0)
        text = sql_column_text(e->flow, 0);
    if (result >= 0 && (server = text_number(&e->servers, text ? text : "")) == TABLE_NONE)
        err_memory(err, "exports");
    sqlite3_reset(e->flow);
    return server;
}

static uint32_t find(struct exports *e, const struct export_of *of, struct err *err)
{
    int64_t object = of->object ? of->object : of->new_object;
    struct root root = { .mount = TABLE_NONE };
    uint32_t number, server;
    struct place place;

    if (of->path && root_of(e, of->path, &root, err) < 0)
        return TABLE_NONE;
    if (root.mount != TABLE_NONE) {
        int result = object ? place_of(e, object, &place, err) : 0;

        if (result < 0)
            return TABLE_NONE;
        server = result ? place.server : server_of(e, of->flow, err);
        return server == TABLE_NONE ? TABLE_NONE : by_key(e, server, BY_MOUNT, root.mount, err);
    }
    number = root.object ? by_object(e, root.object, err) : EXPORT_NONE;
    return number == EXPORT_NONE && object ? by_object(e, object, err) : number;
}

/* Returns the place for the answer for a path, or NULL. */
static struct answer *answer_for(struct exports *e, int64_t path)
{
    if (path <= 0 || path >= ANSWERS_MAX ||
        (path >= e->answer_cap && GROW_ZERO(e->answers, (uint64_t)path + 1, e->answer_cap) < 0))
        return NULL;
    return &e->answers[path];
}

uint32_t exports_find(struct exports *e, const struct export_of *of, struct err *err)
{
    int64_t object = of->object ? of->object : of->new_object;
    struct answer *answer = object ? answer_for(e, of->path) : NULL;
    uint32_t number;

    if (answer && answer->object == object)
        return answer->number;
    number = find(e, of, err);
    if (answer && number != TABLE_NONE)
        *answer = (struct answer){ object, number };
    return number;
}

char *exports_label(const struct exports *e, uint32_t number)
{
    const struct export *export = &e->list[number];
    const char *server = e->servers.texts[export->server], *mount = NULL;
    bool is_ipv6 = strchr(server, ':') != NULL;
    char *label;

    if (export->kind == BY_MOUNT)
        mount = e->mounts.texts[export->value];
    if ((mount
             ? asprintf(&label, "%s%s%s:%s", is_ipv6 ? "[" : "", server, is_ipv6 ? "]" : "", mount)
             : asprintf(&label, "%s fsid 0x%llx", server, (unsigned long long)export->value)) < 0)
        return NULL;
    return label;
}
