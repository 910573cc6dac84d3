/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/rdump/rdump_text_parse.c
 *
 * Text to records.  What a line says needs no more than twice the line's length, so that room for
 * it is made once and pointers into it stay right.
 */
#include "rdump/rdump_format.h"
#include "rdump/rdump_text.h"
#include "base/escape.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A word of the line: never empty. */
struct word {
    const char *text;
    size_t len;
};

static struct word next_word(const char **at, const char *end)
{
    struct word word;

    while (*at < end && **at == ' ')
        ++*at;
    word.text = *at;
    while (*at < end && **at != ' ')
        ++*at;
    word.len = (size_t)(*at - word.text);
    return word;
}

static bool is_word(struct word word, const char *text)
{
    return word.len == strlen(text) && memcmp(word.text, text, word.len) == 0;
}

/* Text of a line for a message. */
static int bad(struct err *err, struct word word, const char *what)
{
    return err_set(err, ERR_INPUT, "\"%.*s%s\" %s", (int)(word.len < 60 ? word.len : 60), word.text,
                   word.len < 60 ? "" : "...", what);
}

/* An unsigned number of at most |bits|, or with a minus a signed one as its bits. */
static bool get_number(struct word word, unsigned bits, bool is_signed, uint64_t *out)
{
    char text[32], *end;
    bool minus = word.len && word.text[0] == '-';

    if (!word.len || word.len >= sizeof(text) || (minus && !is_signed))
        return false;
    memcpy(text, word.text, word.len);
    text[word.len] = '\0';
    if (text[minus] < '0' || text[minus] > '9')
        return false;
    errno = 0;
    *out = is_signed ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    return !errno && end == text + word.len && (bits == 64 || *out >> bits == 0);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool get_hex(struct word word, struct buf *room)
{
    if (word.len % 2)
        return false;
    for (size_t i = 0; i < word.len; i += 2) {
        int high = hex_digit(word.text[i]), low = hex_digit(word.text[i + 1]);

        if (high < 0 || low < 0)
            return false;
        room->data[room->len++] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static bool get_numbers(struct word word, struct buf *room, void *at)
{
    struct layout_numbers numbers = { 0 };
    const char *end = word.text + word.len;
    uint32_t *to;
    uint64_t v;

    room->len = (room->len + 3) & ~(size_t)3;
    to = (uint32_t *)(void *)(room->data + room->len);
    for (const char *p = word.text;; p++) {
        struct word one = { p, 0 };

        while (p < end && *p != ',')
            p++;
        one.len = (size_t)(p - one.text);
        if (!get_number(one, 32, false, &v))
            return false;
        to[numbers.count++] = (uint32_t)v;
        if (p == end)
            break;
    }
    room->len += numbers.count * sizeof(*to);
    numbers.at = to;
    memcpy(at, &numbers, sizeof(numbers.at) + sizeof(numbers.count));
    return true;
}

/* |word|: what is behind the field's "=". */
static bool get_field(const struct layout_field *field, struct word word, struct buf *room,
                      void *at)
{
    size_t from = room->len;
    uint64_t v = 0;
    bool good;

    switch ((enum layout_type)field->type) {
    case LAYOUT_U8:
        good = get_number(word, 8, false, &v);
        *(uint8_t *)at = (uint8_t)v;
        return good;
    case LAYOUT_U16:
        good = get_number(word, 16, false, &v);
        *(uint16_t *)at = (uint16_t)v;
        return good;
    case LAYOUT_U32:
        good = get_number(word, 32, false, &v);
        *(uint32_t *)at = (uint32_t)v;
        return good;
    case LAYOUT_U64:
    case LAYOUT_HASH:
        return get_number(word, 64, false, at);
    case LAYOUT_I64:
    case LAYOUT_TIME:
    case LAYOUT_OPERATION:
        return get_number(word, 64, true, at);
    case LAYOUT_BYTES:
    case LAYOUT_TEXT:
        good = field->type == LAYOUT_BYTES ? get_hex(word, room)
                                           : unescape_name(word.text, word.len, room) == 0;
        ((struct bytes *)at)->data = room->data + from;
        ((struct bytes *)at)->len = (uint32_t)(room->len - from);
        return good;
    case LAYOUT_NUMBERS:
        return get_numbers(word, room, at);
    case LAYOUT_I32:
    case LAYOUT_BOOL:
    case LAYOUT_ADDRESS:
    case LAYOUT_DIGEST:
    case LAYOUT_FRAME:
    case LAYOUT_TYPE_MAX: /* no dump has these */
        break;
    }
    return false;
}

int rdump_text_parse(const char *line, size_t len, enum rdump_kind *kind,
                     union rdump_record *record, struct buf *room, struct err *err)
{
    const char *at = line, *end = line + len;
    struct word word = next_word(&at, end);
    const struct layout_kind *layout;
    uint64_t given = 0;
    unsigned number = 1;

    if (!word.len || word.text[0] == '#')
        return 0;
    while (number < RDUMP_KIND_MAX && !is_word(word, rdump_format.kinds[number].name))
        number++;
    if (number == RDUMP_KIND_MAX)
        return bad(err, word, "is not a kind of record");
    *kind = (enum rdump_kind)number;
    layout = &rdump_format.kinds[number];
    memset(record, 0, sizeof(*record));
    room->len = 0;
    if (buf_reserve(room, 2 * len + 64) < 0)
        return err_set(err, ERR_SYSTEM, "out of memory for a line of %zu bytes", len);
    for (word = next_word(&at, end); word.len && word.text[0] != '#'; word = next_word(&at, end)) {
        const char *equal = memchr(word.text, '=', word.len);
        struct word name = { word.text, equal ? (size_t)(equal - word.text) : word.len };
        struct word value = { 0 };
        unsigned i = 0;

        while (i < layout->count && !is_word(name, layout->fields[i].name))
            i++;
        if (!equal || i == layout->count)
            return bad(err, word, "is not a field of such a record");
        value.text = equal + 1;
        value.len = word.len - name.len - 1;
        if (given & UINT64_C(1) << i)
            return bad(err, word, "is there twice");
        given |= UINT64_C(1) << i;
        if (!get_field(&layout->fields[i], value, room,
                       (uint8_t *)record + layout->fields[i].offset))
            return bad(err, word, "has a value that the field cannot have");
    }
    return 1;
}

struct source {
    int fd;
    uint64_t line; /* the number of the one that was read last */
    struct buf text;
    size_t from, to; /* where the next line begins; up to where no end of it is */
    bool ended;
};

static int read_more(struct source *s, struct err *err)
{
    ssize_t n;

    if (s->from) {
        memmove(s->text.data, s->text.data + s->from, s->text.len - s->from);
        s->text.len -= s->from;
        s->to -= s->from;
        s->from = 0;
    }
    if (s->text.len > RDUMP_LINE_MAX)
        return err_set(err, ERR_INPUT, "longer than %d bytes", RDUMP_LINE_MAX);
    if (buf_reserve(&s->text, 64 << 10) < 0)
        return err_memory(err, "a line of text");
    do
        n = read(s->fd, s->text.data + s->text.len, s->text.cap - s->text.len);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return err_set(err, ERR_INPUT, "cannot be read: %s", strerror(errno));
    s->text.len += (size_t)n;
    s->ended = n == 0;
    return 0;
}

/* 1: the next line is in |line|, until the next call; 0: there is none. */
static int next_line(struct source *s, struct word *line, struct err *err)
{
    const char *end;
    size_t len;

    s->line++;
    for (;;) {
        end = s->to < s->text.len ? memchr(s->text.data + s->to, '\n', s->text.len - s->to) : NULL;
        if (end || s->ended)
            break;
        s->to = s->text.len;
        if (read_more(s, err) < 0)
            return -err->code;
    }
    line->text = (const char *)s->text.data + s->from;
    len = end ? (size_t)(end - line->text) : s->text.len - s->from;
    line->len = len;
    s->from += len + (end != NULL);
    s->to = s->from;
    return end || len;
}

/* The first line that says something must be this. */
static int check_version(struct word line, struct err *err)
{
    unsigned major, minor;
    char text[32] = "";
    int used = 0;

    memcpy(text, line.text, line.len < sizeof(text) ? line.len : sizeof(text) - 1);
    if (sscanf(text, "rdump %5u.%5u%n", &major, &minor, &used) != 2 || (size_t)used != line.len)
        return err_set(err, ERR_INPUT,
                       "not the text of a replay dump, whose first line is \"rdump %d.%d\"",
                       RDUMP_VERSION_MAJOR, RDUMP_VERSION_MINOR);
    if (major != RDUMP_VERSION_MAJOR || minor > RDUMP_VERSION_MINOR)
        return err_set(err, ERR_INPUT, "is of rdump version %u.%u, this program reads up to %d.%d",
                       major, minor, RDUMP_VERSION_MAJOR, RDUMP_VERSION_MINOR);
    return 0;
}

/* All lines; 0 when the last record ended the dump. */
static int take_lines(struct source *s, struct rdump_writer *writer, struct buf *room,
                      struct err *err)
{
    bool has_version = false, has_end = false;
    union rdump_record record;
    enum rdump_kind kind;
    struct word line = { 0 };
    int result;

    while ((result = next_line(s, &line, err)) > 0) {
        if (!has_version && line.len && line.text[0] != '#') {
            result = check_version(line, err);
            has_version = true;
        } else {
            result = rdump_text_parse(line.text, line.len, &kind, &record, room, err);
            if (result > 0) {
                has_end = kind == RDUMP_END;
                result = rdump_put(writer, kind, &record, err);
            }
        }
        if (result < 0)
            return result;
    }
    if (result == 0 && !has_end)
        return err_set(err, ERR_INPUT, "the text ends without an end record");
    return result;
}

int rdump_from_text(int fd, const char *name, output_writer *write, void *ctx, struct err *err)
{
    struct rdump_writer *writer = rdump_writer_new(write, ctx, err);
    struct source source = { .fd = fd };
    struct buf room = { 0 };
    int result = writer ? take_lines(&source, writer, &room, err) : -err->code;

    if (writer && result < 0 && err->code != ERR_SYSTEM) {
        /* what the writer refuses is wrong with the text, too */
        err->code = ERR_INPUT;
        result = err_prefix(err, "%s: line %" PRIu64, name, source.line);
    }
    buf_free(&room);
    buf_free(&source.text);
    rdump_writer_free(writer);
    return result;
}
