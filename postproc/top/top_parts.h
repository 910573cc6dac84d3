/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/top/top_parts.h
 *
 * Shared by the files of postproc/top.
 */
#ifndef NFSDIGEST_TOP_TOP_PARTS_H
#define NFSDIGEST_TOP_TOP_PARTS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "base/table.h"
#include "top/top.h"

/* top_names.c: what ids stand for */
struct top_names {
    struct top_flow {
        struct address client, server;
    } *flows;
    struct top_uid {
        bool known;
        uint32_t uid;
    } *uids;
    struct top_path {
        uint64_t hash; /* of its text */
        const uint8_t *name;
        uint64_t object;
        uint32_t parent, len;
        uint32_t root; /* the path that it begins with, maybe itself */
    } *paths;
    size_t flow_count, flow_cap, uid_count, uid_cap, path_count, path_cap;
    struct arena arena;
    struct buf text;
};

int names_flow(struct top_names *names, const struct record_flow *flow, struct err *err);
int names_uid(struct top_names *names, const struct record_credential *credential, struct err *err);
int names_path(struct top_names *names, const struct record_path *path, struct err *err);
/* Return NULL if there is none. */
const struct top_flow *names_get_flow(const struct top_names *names, uint32_t id);
const struct top_uid *names_get_uid(const struct top_names *names, uint32_t id);
const struct top_path *names_get_path(const struct top_names *names, uint32_t id);
/* Returns the text of a path, "" for none, valid until the next call. */
const char *names_path_text(struct top_names *names, uint32_t id, struct err *err);
void names_free(struct top_names *names); /* all zeros again */

/* top_exports.c: what objects and MOUNT paths say about exports */
struct top_exports {
    struct top_export_object *objects;
    struct address *servers;
    struct bytes *mounts;
    struct top_export_filesystem *filesystems;
    uint32_t object_count, object_cap, server_count, server_cap, mount_count, mount_cap;
    uint32_t filesystem_count, filesystem_cap;
    struct table by_server, by_mount, by_filesystem;
    struct arena arena;
    struct buf text;
};

/* An export: a MOUNT path, or else a file system, of a server. */
struct top_export {
    uint64_t key; /* the same after top_forget */
    struct address server;
    bool is_mount;
    struct bytes mount; /* valid until top_forget */
    uint64_t fsid;
};

int top_exports_object(struct top_exports *e, const struct record_object *object, struct err *err);
int top_exports_name(struct top_exports *e, const struct record_name *name, struct err *err);
/* Returns false if the operation is in no export that is known. */
bool top_export_of(const struct top *top, const struct record_operation *op, struct top_export *to);
/* Returns the text of an export, valid until the next call; NULL: no memory. */
const char *top_export_text(struct top_exports *e, const struct top_export *of, struct err *err);
void top_exports_free(struct top_exports *e); /* all zeros again */

/* top_table.c: the rows of one kind of key */
struct top_table {
    struct top_row *rows;
    uint32_t count;
    struct table index;
    struct top_counts others_now, others_last, others_all;
    uint64_t lost;
};

const struct top_table *top_table(const struct top *top, enum top_by by);

struct top_row *rows_find(struct top_table *table, uint64_t key);
/* Returns NULL if the table is full, or there is no memory: count it as one of the others. */
struct top_row *rows_add(struct top_table *table, uint64_t key, const char *label);
/* Makes room if the table is full. */
void rows_next(struct top_table *table);
void rows_free(struct top_table *table);

enum { AGAIN_MAX = 4096, RECENT = 1 << 15 };

/* Calls of an operation that were sent again and not counted yet. */
struct again {
    uint64_t operation;
    uint32_t flow, count;
};

/* An operation that was complete lately: its call may come again. */
struct recent {
    uint64_t operation, keys[TOP_TABLES];
    bool matched; /* by the filter */
};

struct top {
    struct top_setup setup;
    struct top_names names;
    struct top_exports exports;
    struct top_table tables[TOP_TABLES];
    struct top_counts now, last_counts, all;
    struct again again[AGAIN_MAX];
    uint32_t again_count;
    struct table again_index;
    struct recent recent[RECENT]; /* by the lower bits of the id */
    bool waiting;                 /* operations are those that wait */
    int64_t first, last, oldest;
};

/* top_look.c: what an operation is */
enum { TOP_STATUS = 48 };

/* The texts and keys of an operation. */
struct seen {
    uint64_t keys[TOP_TABLES];
    const char *labels[TOP_TABLES]; /* NULL: made when a row needs it */
    struct top_export export;
    char client[ADDRESS_TEXT_MAX], server[ADDRESS_TEXT_MAX], procedure[48], uid[16],
        status[TOP_STATUS];
};

/* Fills all but the texts of path and export, which take longest, and the status. */
void top_look(const struct top *top, const struct record_operation *op, struct seen *seen);
void top_status(const struct record_operation *op, char text[TOP_STATUS]);
/* Asks the filter.  Returns 1, 0 or a negative code. */
int top_matches(struct top *top, const struct record_operation *op, struct err *err);

#endif
