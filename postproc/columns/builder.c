/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/columns/builder.c
 *
 * One column of a batch.  For streams; the contract is in builder.h.
 */
#include "columns/builder.h"
#include "base/digest.h"

#include <stdlib.h>

#define BYTES_MAX ((size_t)INT32_MAX) /* what offsets of 32 bits can tell */

enum column_type builder_type(enum column_type type, bool plain)
{
    static const uint8_t plain_types[] = {
        [COLUMN_I64] = COLUMN_I64,   [COLUMN_I32] = COLUMN_I32,     [COLUMN_U64] = COLUMN_I64,
        [COLUMN_U32] = COLUMN_I64,   [COLUMN_U16] = COLUMN_I32,     [COLUMN_U8] = COLUMN_I32,
        [COLUMN_BOOL] = COLUMN_BOOL, [COLUMN_TIME] = COLUMN_I64,    [COLUMN_TEXT] = COLUMN_TEXT,
        [COLUMN_WORD] = COLUMN_TEXT, [COLUMN_BYTES] = COLUMN_BYTES,
    };

    return plain ? plain_types[type] : type;
}

const char *builder_format(enum column_type type)
{
    static const char *const formats[] = {
        [COLUMN_I64] = "l",  [COLUMN_I32] = "i",  [COLUMN_U64] = "L",   [COLUMN_U32] = "I",
        [COLUMN_U16] = "S",  [COLUMN_U8] = "C",   [COLUMN_BOOL] = "b",  [COLUMN_TIME] = "tsn:UTC",
        [COLUMN_TEXT] = "u", [COLUMN_WORD] = "i", [COLUMN_BYTES] = "z",
    };

    return formats[type];
}

static unsigned width_of(enum column_type type)
{
    switch (type) {
    case COLUMN_U8:
        return 1;
    case COLUMN_U16:
        return 2;
    case COLUMN_I32:
    case COLUMN_U32:
    case COLUMN_WORD:
    case COLUMN_TEXT: /* the end of its bytes */
    case COLUMN_BYTES:
        return 4;
    case COLUMN_BOOL:
        return 0;
    default:
        return 8;
    }
}

static bool has_data(enum column_type type)
{
    return type == COLUMN_TEXT || type == COLUMN_BYTES;
}

void builder_init(struct builder *b, enum column_type type)
{
    *b = (struct builder){ .type = (uint8_t)type, .width = (uint8_t)width_of(type) };
}

static void words_free(struct words *words)
{
    buf_free(&words->offsets);
    buf_free(&words->data);
    table_free(&words->by_hash);
    *words = (struct words){ 0 };
}

void builder_free(struct builder *b)
{
    buf_free(&b->valid);
    buf_free(&b->values);
    buf_free(&b->data);
    words_free(&b->words);
}

size_t builder_bytes(const struct builder *b)
{
    return b->data.len + b->words.data.len;
}

/* Appends to the bytes of texts, and to the list of their ends. */
static int put_bytes(struct buf *ends, struct buf *data, struct bytes bytes)
{
    int32_t end = 0;

    if (!ends->len && buf_append(ends, &end, sizeof(end)) < 0)
        return -ERR_SYSTEM;
    if (data->len + bytes.len > BYTES_MAX)
        return -ERR_INPUT;
    if (buf_append(data, bytes.data, bytes.len) < 0)
        return -ERR_SYSTEM;
    end = (int32_t)data->len;
    return buf_append(ends, &end, sizeof(end));
}

static struct bytes word_at(const struct words *words, uint32_t index)
{
    int32_t ends[2];

    memcpy(ends, words->offsets.data + index * sizeof(*ends), sizeof(ends));
    return (struct bytes){ words->data.data + ends[0], (uint32_t)(ends[1] - ends[0]) };
}

static bool is_word(const struct words *words, uint32_t index, struct bytes word)
{
    struct bytes there = word_at(words, index);

    return there.len == word.len && memcmp(there.data, word.data, word.len) == 0;
}

/* The number of |word| in the dictionary. */
static int find_word(struct words *words, struct bytes word, uint32_t *index)
{
    uint64_t hash;
    uint32_t at;
    int result;

    if (words->count && is_word(words, words->last_index, word)) {
        *index = words->last_index;
        return 0;
    }
    hash = XXH3_64bits(word.data, word.len);
    for (*index = table_first(&words->by_hash, hash, &at); *index != TABLE_NONE;
         *index = table_next(&words->by_hash, hash, &at))
        if (is_word(words, *index, word)) {
            words->last_index = *index;
            return 0;
        }
    result = put_bytes(&words->offsets, &words->data, word);
    if (result == 0)
        result = table_add(&words->by_hash, hash, words->count);
    if (result == 0)
        words->last_index = *index = words->count++;
    return result;
}

static int add_zeros(struct buf *buf, size_t len)
{
    if (buf_reserve(buf, len) < 0)
        return -ERR_SYSTEM;
    memset(buf->data + buf->len, 0, len);
    buf->len += len;
    return 0;
}

/* The bytes of |rows| values.  The ends of texts grow by themselves. */
static size_t values_bytes(const struct builder *b, size_t rows)
{
    return b->type == COLUMN_BOOL ? rows / 8 : has_data(b->type) ? 0 : rows * b->width;
}

/* Makes room for further rows. */
static int grow(struct builder *b)
{
    enum { ROWS = 1024 };
    size_t first = b->rows ? 0 : (size_t)b->rows_before, len = values_bytes(b, ROWS);

    if (buf_reserve(&b->valid, first / 8) < 0 ||
        buf_reserve(&b->values, values_bytes(b, first)) < 0 || add_zeros(&b->valid, ROWS / 8) < 0 ||
        buf_reserve(&b->values, len) < 0)
        return -ERR_SYSTEM;
    if (b->type == COLUMN_BOOL) /* whose bits are set one by one */
        memset(b->values.data + b->values.len, 0, len);
    b->values.len += len;
    b->room += ROWS;
    return 0;
}

/* In the byte order of this machine, as Arrow has them. */
static void store_numbers(const struct builder *b, const int64_t *numbers, unsigned count)
{
    uint8_t *at = b->values.data + (size_t)b->rows * b->width;

    switch (b->width) {
    case 1:
        for (unsigned i = 0; i < count; i++)
            at[i] = (uint8_t)numbers[i];
        break;
    case 2:
        for (unsigned i = 0; i < count; i++)
            memcpy(at + i * 2, &(uint16_t){ (uint16_t)numbers[i] }, 2);
        break;
    case 4:
        for (unsigned i = 0; i < count; i++)
            memcpy(at + i * 4, &(uint32_t){ (uint32_t)numbers[i] }, 4);
        break;
    default:
        memcpy(at, numbers, count * sizeof(*numbers));
    }
}

int builder_put_numbers(struct builder *b, uint64_t there, int64_t *numbers, unsigned count)
{
    const uint64_t all = count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX;
    const unsigned shift = b->rows % 8;

    while (b->room < count)
        if (grow(b) < 0)
            return -ERR_SYSTEM;
    there &= all;
    for (unsigned i = 0; there != all && i < count; i++)
        numbers[i] &= -(int64_t)(there >> i & 1);
    store_numbers(b, numbers, count);
    for (unsigned bit = 0; bit < count + shift; bit += 8)
        b->valid.data[(b->rows + bit) / 8] |=
            (uint8_t)(bit ? there >> (bit - shift) : there << shift);
    b->nulls += count - (unsigned)__builtin_popcountll(there);
    b->rows += count;
    b->room -= count;
    return 0;
}

static int put_text(struct builder *b, const struct cell *cell)
{
    return put_bytes(&b->values, &b->data,
                     cell->there ? cell->bytes : (struct bytes){ (const uint8_t *)"", 0 });
}

static int put_word(struct builder *b, const struct cell *cell)
{
    uint32_t index = 0;
    int result = cell->there ? find_word(&b->words, cell->bytes, &index) : 0;

    memcpy(b->values.data + (size_t)b->rows * sizeof(index), &index, sizeof(index));
    return result;
}

int builder_put(struct builder *b, const struct cell *cell)
{
    int result = 0;

    if (builder_is_number(b))
        return builder_put_numbers(b, cell->there, &(int64_t){ cell->number }, 1);
    if (!b->room && grow(b) < 0)
        return -ERR_SYSTEM;
    if (b->type == COLUMN_WORD)
        result = put_word(b, cell);
    else if (b->type != COLUMN_BOOL)
        result = put_text(b, cell);
    else if (cell->there && cell->number)
        b->values.data[b->rows / 8] |= (uint8_t)(1 << b->rows % 8);
    if (result < 0)
        return result;
    b->valid.data[b->rows / 8] |= (uint8_t)(cell->there << b->rows % 8);
    b->nulls += !cell->there;
    b->rows++;
    b->room--;
    return 0;
}

/* What an array owns. */
struct owned {
    const void *buffers[3];
    struct ArrowArray dictionary;
};

static void release_array(struct ArrowArray *array)
{
    struct owned *owned = array->private_data;

    for (int i = 0; i < 3; i++)
        free((void *)(uintptr_t)owned->buffers[i]);
    if (owned->dictionary.release)
        owned->dictionary.release(&owned->dictionary);
    free(owned);
    array->release = NULL;
}

/* Gives the memory of |buf| away. */
static void *take(struct buf *buf)
{
    void *data = buf->data;

    *buf = (struct buf){ 0 };
    return data;
}

/* Readers take the list of ends for granted, also if there are no rows. */
static int close_ends(struct buf *ends)
{
    return ends->len ? 0 : buf_append(ends, &(int32_t){ 0 }, sizeof(int32_t));
}

static int take_words(struct words *words, struct ArrowArray *array)
{
    struct owned *owned = calloc(1, sizeof(*owned));

    if (!owned || close_ends(&words->offsets) < 0) {
        free(owned);
        return -ERR_SYSTEM;
    }
    *array = (struct ArrowArray){ .length = words->count,
                                  .n_buffers = 3,
                                  .buffers = owned->buffers,
                                  .release = release_array,
                                  .private_data = owned };
    owned->buffers[1] = take(&words->offsets);
    owned->buffers[2] = take(&words->data);
    words_free(words);
    return 0;
}

int builder_take(struct builder *b, struct ArrowArray *array)
{
    struct owned *owned = calloc(1, sizeof(*owned));
    bool data = has_data(b->type);

    if (!owned || (data && close_ends(&b->values) < 0) ||
        (b->type == COLUMN_WORD && take_words(&b->words, &owned->dictionary) < 0)) {
        free(owned);
        return -ERR_SYSTEM;
    }
    *array =
        (struct ArrowArray){ .length = b->rows,
                             .null_count = b->nulls,
                             .n_buffers = data ? 3 : 2,
                             .buffers = owned->buffers,
                             .dictionary = owned->dictionary.release ? &owned->dictionary : NULL,
                             .release = release_array,
                             .private_data = owned };
    owned->buffers[0] = take(&b->valid);
    owned->buffers[1] = take(&b->values);
    owned->buffers[2] = take(&b->data);
    b->rows_before = b->rows;
    b->rows = b->nulls = 0;
    b->room = 0;
    return 0;
}
