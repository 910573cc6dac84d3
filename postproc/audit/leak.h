/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/leak.h
 *
 * Shared by the search of the anonymized file (leak.c) and the judging of its hits.
 */
#ifndef NFSDIGEST_AUDIT_LEAK_H
#define NFSDIGEST_AUDIT_LEAK_H

#include "audit/audit_parts.h"

enum {
    LEAKS_MAX = 1000,    /* of a class; further ones are not needed */
    EXPLAINED_BYTES = 4, /* this many bytes beside values that stay may be equal by chance */
};

enum hit_state { HIT_OPEN, HIT_EXPLAINED, HIT_FOUND };

struct hit {
    uint64_t offset, frame;
    uint32_t secret;
    unsigned state : 2; /* enum hit_state */
    unsigned block : 4; /* enum block_kind */
    /* may be chance: a short secret, or one in pseudonyms */
    bool is_doubtful : 1;
    bool crosses : 1;          /* is in two values: |free_len| is that of the shortest part */
    uint8_t free_at, free_len; /* the bytes of it that depend on the key; 0: all */
};

struct leak {
    struct audit *audit;
    struct hit *hits; /* by frame, as they came */
    uint32_t count, cap;
    struct table contexts; /* of short hits: equal bytes around a hit count once */
    bool overflow;
    const struct block *block;
    struct queue *chainer; /* takes headers */
    /* the current message: */
    const struct audit_message *message;
    struct items items;
    uint8_t *mask; /* says which of its bytes, and of the zeros behind it, may stay */
    size_t room;   /* size of |mask| */
};

static inline const struct secret *leak_secret(const struct leak *l, uint32_t index)
{
    return &l->audit->secrets.all[index];
}

/* Returns the item that begins at |offset| of a message, or the last one before it. */
uint32_t leak_item_at(const struct items *items, uint32_t offset);

/* Reports a finding: the hit |raw| in the file, or a hit at |at| in the current message. */
void leak_find(struct leak *l, const struct secret *s, const struct hit *raw, uint32_t at);

/* leak_file.c: searches the file's bytes, and notes every hit. */
int leak_search_file(struct leak *l, struct err *err);

/* leak_judge.c: judges the hits that no message explained, and those that may be chance. */
void leak_judge_long(struct leak *l);
int leak_judge_doubtful(struct leak *l, struct err *err);

#endif
