/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/item.h
 *
 * A message as a flat list of values: the words of its RPC header, then the fields of its body, in
 * the order in which they stand.
 */
#ifndef NFSDIGEST_AUDIT_ITEM_H
#define NFSDIGEST_AUDIT_ITEM_H

#include "audit/source.h"
#include "wire/walk.h"

/* Classes in addition to those of the tables. */
enum item_class {
    ITEM_HEADER = CLASS_MAX, /* words of the RPC header that say what kind of message it is */
    ITEM_XID,
    ITEM_STAMP,
    ITEM_CREDENTIAL, /* credentials and verifiers that are not AUTH_SYS */
    ITEM_CLASSES
};

struct item {
    const struct field *field; /* NULL in the header */
    const char *name;          /* in the header */
    uint8_t cls;               /* enum field_class or item_class */
    bool is_bytes;             /* an opaque or string; else a number of |bits| */
    bool has_length;           /* 4 bytes before it are its length */
    bool is_cut;               /* only a part of it was captured */
    uint8_t bits;
    uint32_t offset; /* of the value in the message */
    uint32_t len;    /* its bytes there, without padding */
    uint32_t full_len;
    uint64_t value;
    const uint8_t *data;
};

struct items {
    struct item *all;
    uint32_t count, cap;
    enum walk_result result; /* of the body; WALK_STOPPED: there is no body to walk */
    bool surplus;            /* there are bytes behind the body's end */
    uint32_t read_to;        /* offset in the message where reading ended */
};

/* Reads the values of a message and replaces those in |items|, which is all zeros at first.  Fails
 * only if there is no memory. */
int items_read(struct items *items, const struct audit_message *m, struct err *err);
void items_free(struct items *items);

/* Writes the name of item |index|: "RPC uid", "READ3res.resok.eof".  Returns |text|. */
const char *item_path(const struct audit_message *m, const struct items *items, uint32_t index,
                      char text[WALK_PATH_MAX]);

/* Walks the message's body again, if it has one.  |visitor| sees the values that are not |whole|
 * structures: they are the items of the body, in the same order. */
void items_walk(const struct audit_message *m, const struct visitor *visitor);

const char *item_class_name(unsigned cls);

#endif
