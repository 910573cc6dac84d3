/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "ranks/outcomes.h"

enum { TAINTED = 1, BECAUSE = 2, LESSON = 4, OTHER_DUMP = 8, NUMBER_MOST = 10 /* bytes */ };

/* --- writing */

static uint8_t *put(uint8_t *to, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *to++ = (uint8_t)(value | 128);
    *to++ = (uint8_t)value;
    return to;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

int outcomes_add(struct outcomes *to, const struct player_outcome *o, struct err *err)
{
    bool because = o->tainted && o->because != o->number;
    uint8_t *at;

    if (buf_reserve(&to->bytes, 1 + (size_t)5 * NUMBER_MOST + o->lesson.len) < 0)
        return err_memory(err, "what other ranks have to know");
    at = to->bytes.data + to->bytes.len;
    *at++ = (uint8_t)((o->tainted ? TAINTED : 0) | (because ? BECAUSE : 0) |
                      (o->lesson.len ? LESSON : 0) | (o->dump != to->dump ? OTHER_DUMP : 0));
    if (o->dump != to->dump)
        at = put(at, o->dump);
    at = put(at, zigzag(o->number - to->last));
    at = put(at, (uint64_t)o->chain);
    if (because)
        at = put(at, o->because + 1);
    if (o->lesson.len) {
        at = put(at, o->lesson.len);
        memcpy(at, o->lesson.data, o->lesson.len);
        at += o->lesson.len;
    }
    to->bytes.len = (size_t)(at - to->bytes.data);
    to->last = o->number;
    to->dump = o->dump;
    return 0;
}

void outcomes_clear(struct outcomes *to)
{
    to->bytes.len = 0;
    to->last = 0;
    to->dump = 0;
}

void outcomes_free(struct outcomes *to)
{
    buf_free(&to->bytes);
    *to = (struct outcomes){ 0 };
}

/* --- reading */

/* Returns false if there is no number. */
static bool get(struct bytes *left, uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < left->len && i < NUMBER_MOST; i++) {
        uint8_t byte = left->data[i];

        if (i == NUMBER_MOST - 1 && byte > 1)
            return false; /* more than 64 bits */
        *value |= (uint64_t)(byte & 127) << 7 * i;
        if (byte & 128)
            continue;
        left->data += i + 1;
        left->len -= i + 1;
        return true;
    }
    return false;
}

static bool get_lesson(struct bytes *left, struct bytes *lesson)
{
    uint64_t len;

    if (!get(left, &len) || !len || len > left->len)
        return false;
    *lesson = (struct bytes){ left->data, (uint32_t)len };
    left->data += len;
    left->len -= (uint32_t)len;
    return true;
}

static bool get_outcome(struct outcomes_reader *r, struct player_outcome *o)
{
    uint8_t flags = *r->left.data;
    uint64_t dump = r->dump, difference, chain, because = 0;

    r->left.data++;
    r->left.len--;
    if (flags & ~(TAINTED | BECAUSE | LESSON | OTHER_DUMP) ||
        (flags & BECAUSE && !(flags & TAINTED)))
        return false;
    if (flags & OTHER_DUMP && (!get(&r->left, &dump) || dump > UINT32_MAX))
        return false;
    if (!get(&r->left, &difference) || !get(&r->left, &chain) || chain > INT64_MAX)
        return false;
    if (flags & BECAUSE && !get(&r->left, &because))
        return false;
    *o = (struct player_outcome){ .dump = (uint32_t)dump,
                                  .tainted = flags & TAINTED,
                                  .chain = (int64_t)chain };
    o->number = r->last + (difference >> 1 ^ (difference & 1 ? UINT64_MAX : 0));
    if (o->tainted)
        o->because = flags & BECAUSE ? because - 1 : o->number;
    if (flags & LESSON && !get_lesson(&r->left, &o->lesson))
        return false;
    r->dump = o->dump;
    r->last = o->number;
    return true;
}

int outcomes_next(struct outcomes_reader *r, struct player_outcome *o, struct err *err)
{
    if (!r->left.len)
        return 0;
    return get_outcome(r, o) ? 1 : err_set(err, ERR_INPUT, "a message about operations is damaged");
}
