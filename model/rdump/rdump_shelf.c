/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_shelf.c
 *
 * Records of a dump put aside until it is known which objects they use, and which of them for the
 * last time.  Contract: rdump_shelf.h.
 */
#include "rdump/rdump_shelf.h"
#include "base/temporary.h"
#include "rdump/rdump_format.h"

#include <stdlib.h>

#define RECORDS "records of the dump"

enum { PIECES_MAX = 16 };

/* What of a kind's records lies elsewhere: lists first, which are aligned. */
struct pieces {
    const struct layout_field *fields[PIECES_MAX];
    uint32_t count, lists;
};

struct head {
    uint32_t kind, len; /* of what lies elsewhere */
};

struct rdump_shelf {
    struct temporary *file;
    struct pieces pieces[RDUMP_KIND_MAX];
    uint64_t operations;
    struct buf last;        /* uint64_t by object: 1 + the number of the last operation with it */
    struct buf credentials; /* bool by number: used */
    union rdump_record record;
    struct buf data;
};

static const size_t sizes[RDUMP_KIND_MAX] = {
    [RDUMP_TRACE] = sizeof(struct rdump_trace),
    [RDUMP_HOST] = sizeof(struct rdump_host),
    [RDUMP_CREDENTIAL] = sizeof(struct rdump_credential),
    [RDUMP_OBJECT] = sizeof(struct rdump_object),
    [RDUMP_ENTRY] = sizeof(struct rdump_entry),
    [RDUMP_OPERATION] = sizeof(struct rdump_operation),
    [RDUMP_END] = sizeof(struct rdump_end),
};

static int no_memory(struct err *err)
{
    return err_memory(err, "a dump");
}

static void find_pieces(struct pieces *p, const struct layout_kind *kind)
{
    for (int lists = 1; lists >= 0; lists--)
        for (unsigned i = 0; i < kind->count; i++) {
            enum layout_type type = (enum layout_type)kind->fields[i].type;

            if (lists ? type != LAYOUT_NUMBERS : type != LAYOUT_BYTES && type != LAYOUT_TEXT)
                continue;
            p->fields[p->count++] = &kind->fields[i];
            p->lists += lists != 0;
        }
}

struct rdump_shelf *rdump_shelf_new(struct err *err)
{
    struct rdump_shelf *s = calloc(1, sizeof(*s));

    if (!s) {
        no_memory(err);
        return NULL;
    }
    for (int i = 1; i < RDUMP_KIND_MAX; i++)
        find_pieces(&s->pieces[i], &rdump_format.kinds[i]);
    s->file = temporary_new(RECORDS, err);
    if (s->file)
        return s;
    rdump_shelf_free(s);
    return NULL;
}

void rdump_shelf_free(struct rdump_shelf *s)
{
    if (!s)
        return;
    temporary_free(s->file);
    buf_free(&s->last);
    buf_free(&s->credentials);
    buf_free(&s->data);
    free(s);
}

/* The element |number| of an array of zeros that grows, or NULL. */
static void *element(struct buf *array, uint32_t number, size_t size)
{
    size_t need = ((size_t)number + 1) * size, old = array->len;

    if (need > old) {
        if (buf_reserve(array, need - old + need / 2) < 0)
            return NULL;
        memset(array->data + old, 0, need - old);
        array->len = need;
    }
    return array->data + number * size;
}

static int note_uses(struct rdump_shelf *s, const struct rdump_operation *o, struct err *err)
{
    bool *used = element(&s->credentials, o->credential, sizeof(bool));

    if (!used)
        return no_memory(err);
    *used = true;
    s->operations++;
    for (uint32_t i = 0; i < o->forget_count; i++) {
        uint64_t *last = element(&s->last, o->forget[i], sizeof(*last));

        if (!last)
            return no_memory(err);
        *last = s->operations;
    }
    return 0;
}

/* What lies at |field|, elsewhere. */
static struct bytes piece_at(const void *record, const struct layout_field *field)
{
    const uint8_t *at = (const uint8_t *)record + field->offset;
    struct layout_numbers numbers;

    if (field->type != LAYOUT_NUMBERS)
        return *(const struct bytes *)(const void *)at;
    numbers = layout_numbers(at);
    return (struct bytes){ (const uint8_t *)numbers.at,
                           numbers.count * (uint32_t)sizeof(uint32_t) };
}

/* Appends the words of a record that are not zero, behind a bit for each word. */
static void pack(struct buf *to, const uint64_t *words, size_t count)
{
    uint64_t *out = (uint64_t *)(void *)(to->data + to->len), *at = out + 1;

    *out = 0;
    for (size_t i = 0; i < count; i++)
        if (words[i]) {
            *out |= UINT64_C(1) << i;
            *at++ = words[i];
        }
    to->len += (size_t)((uint8_t *)at - (uint8_t *)out);
}

static const uint8_t *unpack(const uint8_t *from, uint64_t *words, size_t count)
{
    const uint64_t *at = (const uint64_t *)(const void *)from + 1;

    for (size_t i = 0; i < count; i++)
        words[i] = *(const uint64_t *)(const void *)from >> i & 1 ? *at++ : 0;
    return (const uint8_t *)at;
}

/* On the shelf: the head; the record without its pointers, packed; what they point at. */
int rdump_shelf_put(struct rdump_shelf *s, enum rdump_kind kind, const void *record,
                    struct err *err)
{
    const struct pieces *p = &s->pieces[kind];
    struct bytes pieces[PIECES_MAX];
    const void *none = NULL;
    struct head head = { kind, 0 };
    size_t need = sizeof(head) + 8 + sizeof(s->record);

    if (kind == RDUMP_OPERATION && note_uses(s, record, err) < 0)
        return -err->code;
    memcpy(&s->record, record, sizes[kind]);
    for (uint32_t i = 0; i < p->count; i++) {
        pieces[i] = piece_at(record, p->fields[i]);
        need += pieces[i].len;
        memcpy((uint8_t *)&s->record + p->fields[i]->offset, &none, sizeof(none));
    }
    s->data.len = 0;
    if (buf_reserve(&s->data, need) < 0)
        return no_memory(err);
    s->data.len = sizeof(head);
    pack(&s->data, (const uint64_t *)(const void *)&s->record, sizes[kind] / sizeof(uint64_t));
    for (uint32_t i = 0; i < p->count; i++)
        if (pieces[i].len) {
            memcpy(s->data.data + s->data.len, pieces[i].data, pieces[i].len);
            s->data.len += pieces[i].len;
        }
    head.len = (uint32_t)(s->data.len - sizeof(head));
    memcpy(s->data.data, &head, sizeof(head));
    return temporary_write(s->file, s->data.data, s->data.len, err);
}

/* 1: |record| is the next one, until the next call; 0: there is none. */
static int take(struct rdump_shelf *s, enum rdump_kind *kind, struct err *err)
{
    const struct pieces *p;
    struct head head;
    const uint8_t *at;
    int result = temporary_read(s->file, &head, sizeof(head), err);

    if (result != 1)
        return result;
    *kind = (enum rdump_kind)head.kind;
    p = &s->pieces[head.kind];
    s->data.len = 0;
    if (buf_reserve(&s->data, (size_t)head.len + 1) < 0)
        return no_memory(err);
    result = temporary_read(s->file, s->data.data, head.len, err);
    if (result != 1)
        return result ? result : err_set(err, ERR_SYSTEM, "a record put aside has no end");
    at = unpack(s->data.data, (uint64_t *)(void *)&s->record, sizes[head.kind] / sizeof(uint64_t));
    for (uint32_t i = 0; i < p->count; i++) {
        struct bytes piece = piece_at(&s->record, p->fields[i]);

        /* both kinds of pieces begin with where they are */
        memcpy((uint8_t *)&s->record + p->fields[i]->offset, &at, sizeof(at));
        at += piece.len;
    }
    return 1;
}
_Static_assert(offsetof(struct bytes, data) == 0 && offsetof(struct layout_numbers, at) == 0,
               "as take() wants it");
_Static_assert(sizeof(struct rdump_operation) <= 64 * sizeof(uint64_t), "a bit for each word");

static int by_value(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* Of the objects that the operation uses, it keeps those that it is the last one to use. */
static void keep_last(struct rdump_shelf *s, struct rdump_operation *o)
{
    const uint64_t *last = (const uint64_t *)(const void *)s->last.data;
    uint32_t *uses = (uint32_t *)(uintptr_t)o->forget, count = 0, kept = 0;

    for (uint32_t i = 0; i < o->forget_count; i++)
        if (last[uses[i]] == s->operations)
            uses[count++] = uses[i];
    if (count > 1)
        qsort(uses, count, sizeof(*uses), by_value);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || uses[kept - 1] != uses[i])
            uses[kept++] = uses[i];
    o->forget_count = kept;
}

int rdump_shelf_write(struct rdump_shelf *s, struct rdump_writer *to, struct err *err)
{
    enum rdump_kind kind = RDUMP_TRACE;
    int result;

    if (temporary_rewind(s->file, err) < 0)
        return -err->code;
    s->operations = 0;
    while ((result = take(s, &kind, err)) > 0) {
        if (kind == RDUMP_OPERATION) {
            s->operations++;
            keep_last(s, &s->record.operation);
        } else if (kind == RDUMP_OBJECT) {
            uint64_t *last = element(&s->last, s->record.object.number, sizeof(*last));

            if (!last)
                return no_memory(err);
            s->record.object.used = *last != 0;
        } else if (kind == RDUMP_CREDENTIAL) {
            bool *used = element(&s->credentials, s->record.credential.number, sizeof(*used));

            if (!used)
                return no_memory(err);
            if (!*used)
                continue;
        }
        if (rdump_put(to, kind, &s->record, err) < 0)
            return -err->code;
    }
    return result;
}
