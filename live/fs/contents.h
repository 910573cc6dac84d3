/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/fs/contents.h
 *
 * Sparse contents: pages of 4 KiB in a tree with 64 branches a node, as high as the last page
 * needs. What is not there is zeros.  While there is only the first page, it may be shorter, and
 * has no node.  All zeros is empty.  A size is its owner's business.
 *
 * Contents may have a background: below its end, what is not there is made up (fill/fill.h) instead
 * of zeros.  Only cutting moves the end, and only down.  A background takes 24 bytes.
 *
 * A write is two steps: contents_prepare gets everything that it needs, and may fail without having
 * changed any contents; contents_put cannot fail.
 */
#ifndef NFSDIGEST_FS_CONTENTS_H
#define NFSDIGEST_FS_CONTENTS_H

#include "base/bytes.h"
#include "fs/memory.h"

enum { CONTENTS_PAGE = 4096 };
#define CONTENTS_NONE UINT64_MAX

struct contents {
    void *root;     /* a node, or with |height| 0 the first page; or with |filled| */
    uint32_t pages; /* how many there are */
    uint16_t first; /* with |height| 0: how many bytes of it */
    uint8_t height; /* levels of nodes */
    uint8_t filled; /* there is a background: |root| is struct background, which has the root */
};

/* Pages to be put in, linked by their first bytes. */
struct contents_spare {
    void *pages;
    uint32_t count, size; /* bytes of each */
    bool zeros;           /* pages of zeros are put in, too */
};

/* The page and how many bytes of it are kept, the rest being zeros; NULL: all are zeros. */
const uint8_t *contents_page(const struct contents *c, uint64_t index, uint32_t *len);
/* The first page from |index| on that is there, or CONTENTS_NONE. */
uint64_t contents_next(const struct contents *c, uint64_t index);
void contents_read(const struct contents *c, uint64_t offset, uint8_t *to, uint32_t len);

/* How many pages |data| at |offset| would add.  Pages of zeros are not added, unless |zeros|. */
uint32_t contents_missing(const struct contents *c, uint64_t offset, struct bytes data, bool zeros);
/* 0 or -ERR_SYSTEM. */
int contents_prepare(struct memory *m, struct contents *c, uint64_t offset, struct bytes data,
                     bool zeros, struct contents_spare *spare);
void contents_put(struct contents *c, uint64_t offset, struct bytes data,
                  struct contents_spare *spare);
void contents_give_spare(struct memory *m, struct contents_spare *spare);

/* The end of the background, and what it is made of; 0: there is none. */
uint64_t contents_filled(const struct contents *c, uint64_t *key);
/* |end| 0: none any more.  Pages stay.  0 or -ERR_SYSTEM. */
int contents_fill(struct memory *m, struct contents *c, uint64_t key, uint64_t end);
/* The page as it is when it is not there: |to| has CONTENTS_PAGE bytes. */
void contents_absent(const struct contents *c, uint64_t index, uint8_t *to);

/* Nothing from |size| bytes on stays. */
void contents_cut(struct memory *m, struct contents *c, uint64_t size);
void contents_drop(struct memory *m, struct contents *c, uint64_t index); /* one page */

#endif
