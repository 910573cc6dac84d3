/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/flow/scan.h
 *
 * Reads a message body once, by roles, and collects what pairing, objects and records need of it.
 * The pointers point into the body.
 */
#ifndef NFSDIGEST_FLOW_SCAN_H
#define NFSDIGEST_FLOW_SCAN_H

#include "wire/body.h"
#include "base/bytes.h"

enum { SCAN_PROBLEM_MAX = WALK_PATH_MAX + 128 };

struct scan_attributes { /* the place of a fattr3; |data| NULL: there is none */
    const struct type *type;
    const uint8_t *data;
    uint32_t len;
};

struct scan_identity { /* the constant attributes of an object, and its number of links */
    uint8_t type;
    uint32_t links;
    uint64_t fsid, fileid;
};

struct scan_entry { /* of a directory listing */
    struct bytes name, handle;
    struct scan_attributes about;
};

/* Called for each entry that has a handle, and for each port that a result names. */
struct scan_host {
    int (*entry)(void *ctx, const struct scan_entry *entry, struct err *err);
    void (*port)(void *ctx, uint32_t program, uint16_t port);
    void *ctx;
};

struct scan {
    uint32_t roles; /* of all fields that are present */
    struct bytes object, parent, name, parent2, name2, new_object, root_path;
    uint32_t object_role, parent2_role; /* whole role words, for MODIFIES */
    uint32_t name_role, name2_role;
    int64_t status;               /* or STATUS_NONE */
    uint64_t offset, count;       /* of the byte range */
    uint32_t data_at;             /* offset of file contents in the body, */
    uint32_t data_len, data_full; /* captured and on the wire */
    bool has_data;
    struct scan_attributes attributes, attributes_new;
    uint32_t port_program; /* 0: none; before a scan of results, set it to that of the call */
    enum walk_result result;
    uint32_t offset_end; /* where the walk ended, on the wire */
    /* while scanning: */
    struct scan_entry entry;
    const struct scan_host *host; /* or NULL; set before */
    struct err *err;
    int failed; /* negative: what the host returned */
};

/* Scans a body.  Resets |scan| first, except port_program and host.  Returns 0 or what the host
 * returned.  A bad body is not an error; |result| reports it.  |problem| (may be NULL) receives the
 * path and cause of a violation. */
int scan_body(struct scan *scan, const struct type *type, const struct captured *body,
              char problem[SCAN_PROBLEM_MAX], struct err *err);

/* Reads the identity out of attributes.  Not a part of the scan, because it is seldom needed. */
struct scan_identity scan_identify(struct scan_attributes attributes);

/* Returns the length of the captured body as records keep it: up to the file contents, or up to the
 * violation. */
uint32_t scan_kept(const struct scan *scan, uint32_t cap_len);

#endif
