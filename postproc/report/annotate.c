/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate.h"
#include "compare/db.h"
#include "report/annotate_copy.h"
#include "report/markup.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SIDE_REF = 1, SIDE_SUT = 2, TEXT_MAX = 200 };

/* A capture that is to be copied: a source of one side, or the same one of both. */
struct target {
    uint8_t digest[INPUT_DIGEST_LEN];
    int64_t source[3]; /* by side; 0: none */
    uint64_t frames;
    char *name, *found, *path; /* as the result has it, where it is, what is made of it */
    struct output *output;
    uint64_t copied, commented;
};

struct annotate {
    sqlite3 *db;
    struct err *err;
    struct target *targets;
    uint32_t count;
    sqlite3_stmt *row; /* discrepancies of the capture at hand, by frame */
    bool has_row;
};

static int no_memory(struct annotate *a)
{
    return err_set(a->err, ERR_SYSTEM, "out of memory for a report");
}

/* --- comments */

/* ?1, ?2: the source of ref, of sut; NULL: none */
static const char select_comments[] =
    "SELECT f.frame, f.side, c.id, c.operation, c.field, c.difference, d.element, d.ref_text,"
    " d.sut_text, f.other_frame, (SELECT name FROM source q WHERE q.side = 3 - f.side AND"
    " q.id = f.other_source), c.reason, c.is_noise,"
    " ifnull((SELECT path FROM object o WHERE o.id = d.object),"
    "  (SELECT p.path FROM operation p WHERE p.side = f.side AND p.id ="
    "   CASE f.side WHEN 1 THEN d.ref ELSE d.sut END))"
    " FROM frame f JOIN discrepancy d ON d.id = f.discrepancy JOIN cluster c ON c.id = d.cluster"
    " WHERE (f.side = 1 AND f.source = ?1) OR (f.side = 2 AND f.source = ?2)"
    " ORDER BY f.frame, f.side, f.discrepancy";

enum {
    C_FRAME,
    C_SIDE,
    C_GROUP,
    C_OPERATION,
    C_FIELD,
    C_DIFFERENCE,
    C_ELEMENT,
    C_REF,
    C_SUT,
    C_OTHER,
    C_OTHER_NAME,
    C_REASON,
    C_NOISE,
    C_PATH,
};

static int add_words(struct buf *to, const char *words)
{
    return buf_append(to, words, strlen(words));
}

/* A column between |before| and |after|, cut where it is long; nothing for NULL. */
static int add_column(struct annotate *a, struct buf *to, const char *before, int at,
                      const char *after)
{
    const char *text = (const char *)sqlite3_column_text(a->row, at);
    size_t len = text ? strlen(text) : 0, kept = len < TEXT_MAX ? len : TEXT_MAX;
    char piece[TEXT_MAX + 1];

    if (!text)
        return 0;
    while (kept < len && kept && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--; /* not within a character */
    memcpy(piece, text, kept);
    piece[kept] = '\0';
    return add_words(to, before) | markup_plain(to, piece) | add_words(to, kept < len ? "…" : "") |
           add_words(to, after);
}

/* One line: which group, what, both values, the counterpart, why. */
static int add_comment(struct annotate *a, struct buf *to)
{
    bool ref = sqlite3_column_int(a->row, C_SIDE) == SIDE_REF;
    const char *base = (const char *)sqlite3_column_text(a->row, C_OTHER_NAME);
    int bad = markup_format(to, "nfsdigest: group %lld%s, this is %s: ",
                            (long long)sqlite3_column_int64(a->row, C_GROUP),
                            sqlite3_column_int(a->row, C_NOISE) ? " (noise)" : "",
                            ref ? "the reference" : "the system under test");

    bad |= add_column(a, to, "", C_OPERATION, " ") | add_column(a, to, "", C_FIELD, ": ") |
           add_column(a, to, "", C_DIFFERENCE, "") | add_column(a, to, "; ", C_PATH, "") |
           add_column(a, to, ", element ", C_ELEMENT, "") | add_column(a, to, "; ref ", C_REF, "") |
           add_column(a, to, "; sut ", C_SUT, "") |
           add_column(a, to, "; counterpart in frame ", C_OTHER, "");
    if (base && sqlite3_column_type(a->row, C_OTHER) != SQLITE_NULL) {
        base = strrchr(base, '/') ? strrchr(base, '/') + 1 : base;
        bad |= add_words(to, " of ") | markup_plain(to, base);
    }
    bad |= add_column(a, to, "; ", C_REASON, "") | buf_append(to, "", 1);
    return bad ? no_memory(a) : 0;
}

static int next_row(struct annotate *a)
{
    int result = db_row(a->db, a->row, a->err);

    a->has_row = result > 0;
    return result < 0 ? result : 0;
}

static int comments_of(void *ctx, uint64_t frame, struct buf *texts, struct err *err)
{
    struct annotate *a = ctx;
    uint64_t count = 0;
    int result = 0;

    (void)err; /* is a->err */
    while (result == 0 && a->has_row && (uint64_t)sqlite3_column_int64(a->row, C_FRAME) == frame) {
        if (count++ < ANNOTATE_COMMENTS_MAX)
            result = add_comment(a, texts);
        if (result == 0)
            result = next_row(a);
    }
    if (result == 0 && count > ANNOTATE_COMMENTS_MAX &&
        markup_format(texts, "nfsdigest: %llu more discrepancies of this frame",
                      (unsigned long long)count - ANNOTATE_COMMENTS_MAX) |
            buf_append(texts, "", 1))
        result = no_memory(a);
    return result;
}

/* --- which captures */

static struct target *find_target(struct annotate *a, const uint8_t digest[INPUT_DIGEST_LEN])
{
    for (uint32_t i = 0; i < a->count; i++)
        if (memcmp(a->targets[i].digest, digest, INPUT_DIGEST_LEN) == 0)
            return &a->targets[i];
    return NULL;
}

static int add_source(struct annotate *a, sqlite3_stmt *row)
{
    struct bytes digest = db_column_bytes(row, 3);
    const char *name = (const char *)sqlite3_column_text(row, 2);
    struct target *target;

    if (digest.len != INPUT_DIGEST_LEN || !name)
        return err_set(a->err, ERR_INPUT, "the result is damaged: a source without a digest");
    target = find_target(a, digest.data);
    if (!target) {
        if (a->count == ANNOTATE_CAPTURES_MAX)
            return err_set(a->err, ERR_USAGE, "more than %d captures cannot be annotated at once",
                           ANNOTATE_CAPTURES_MAX);
        target = &a->targets[a->count++];
        memcpy(target->digest, digest.data, INPUT_DIGEST_LEN);
        target->frames = (uint64_t)sqlite3_column_int64(row, 4);
        target->name = strdup(name);
        if (!target->name)
            return no_memory(a);
    }
    target->source[sqlite3_column_int(row, 0)] = sqlite3_column_int64(row, 1);
    return 0;
}

static int list_targets(struct annotate *a)
{
    sqlite3_stmt *row;
    int result = tables_prepare(a->db,
                                "SELECT side, id, name, digest, frames FROM source"
                                " WHERE side IN (1, 2) ORDER BY side, id",
                                &row, a->err);

    if (result < 0)
        return result;
    while ((result = db_row(a->db, row, a->err)) > 0 && (result = add_source(a, row)) == 0)
        ;
    sqlite3_finalize(row);
    if (result == 0 && !a->count)
        result = err_set(a->err, ERR_INPUT, "the result names no capture");
    return result;
}

/* Where a capture that was named belongs. */
static int place_capture(struct annotate *a, const char *path)
{
    struct input *input = input_open(path, true, a->err);
    uint8_t digest[INPUT_DIGEST_LEN];
    struct target *target;
    int result;

    if (!input)
        return -a->err->code;
    result = input_drain(input, a->err);
    input_digest(input, digest);
    input_close(input);
    /* one that is cut was ingested as far as it goes: annotate_one looks at that again */
    target = result == 0 || result == -ERR_INPUT ? find_target(a, digest) : NULL;
    if (!target)
        return result < 0 ? result
                          : err_set(a->err, ERR_INPUT,
                                    "%s: not one of the captures that were compared", path);
    free(target->found);
    target->found = strdup(path);
    return target->found ? 0 : no_memory(a);
}

static int find_captures(struct annotate *a, const char *const *captures, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (place_capture(a, captures[i]) < 0)
            return -a->err->code;
    for (uint32_t i = 0; i < a->count; i++) {
        struct target *t = &a->targets[i];

        if (count && !t->found)
            return err_set(a->err, ERR_INPUT, "%s: this capture, or its copy, is needed too",
                           t->name);
        if (!t->found && !(t->found = strdup(t->name)))
            return no_memory(a);
    }
    return 0;
}

/* --- names */

static bool same_file(const char *x, const char *y)
{
    struct stat a, b;

    return stat(x, &a) == 0 && stat(y, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static const char *label_of(const struct target *t)
{
    return t->source[SIDE_REF] && t->source[SIDE_SUT] ? "" : t->source[SIDE_REF] ? "-ref" : "-sut";
}

static int make_names(struct annotate *a, const char *path)
{
    static const char end[] = ".pcapng";
    size_t len = strlen(path), stem = len;

    if (len > sizeof(end) - 1 && strcmp(path + len - (sizeof(end) - 1), end) == 0)
        stem -= sizeof(end) - 1;
    for (uint32_t i = 0; i < a->count; i++) {
        const char *label = label_of(&a->targets[i]);
        unsigned same = 0, number = 0;
        char digits[16] = "";

        for (uint32_t k = 0; k < a->count; k++)
            if (strcmp(label_of(&a->targets[k]), label) == 0) {
                same++;
                number += k <= i;
            }
        if (same > 1)
            snprintf(digits, sizeof(digits), "-%u", number);
        if (asprintf(&a->targets[i].path, "%.*s%s%s%s", (int)stem, path, label, digits,
                     path + stem) < 0) {
            a->targets[i].path = NULL;
            return no_memory(a);
        }
        for (uint32_t k = 0; k < a->count; k++)
            if (same_file(a->targets[i].path, a->targets[k].found))
                return err_set(a->err, ERR_USAGE, "%s is one of the captures: choose another name",
                               a->targets[i].path);
    }
    return 0;
}

/* --- */

/* All was read, and it is what was compared. */
static int check_copy(struct annotate *a, const struct target *t, struct input *input)
{
    uint8_t digest[INPUT_DIGEST_LEN];
    struct err ignored;

    input_drain(input, &ignored); /* also of one that is cut */
    input_digest(input, digest);
    if (memcmp(digest, t->digest, INPUT_DIGEST_LEN) != 0)
        return err_set(a->err, ERR_INPUT,
                       "%s: not the capture that was compared: its contents are others", t->found);
    if (a->has_row)
        return err_set(a->err, ERR_INPUT,
                       "the result is damaged: frame %lld of %s, which has %llu frames",
                       (long long)sqlite3_column_int64(a->row, C_FRAME), t->found,
                       (unsigned long long)t->copied);
    return 0;
}

static int copy_target(struct annotate *a, struct target *t, struct input *input)
{
    struct annotate_copy copy = { .comment = "Comments by nfsdigest",
                                  .comments = comments_of,
                                  .ctx = a };
    struct capture *capture = capture_open(input, a->err);
    int result;

    if (!capture)
        return -a->err->code;
    result = annotate_copy(&copy, capture, output_write, t->output, a->err);
    capture_close(capture);
    t->copied = copy.frames;
    t->commented = copy.commented;
    if (result == -ERR_INPUT && t->copied == t->frames)
        result = 0; /* cut, as it was when it was ingested */
    return result < 0 ? result : check_copy(a, t, input);
}

static int annotate_one(struct annotate *a, struct target *t)
{
    struct input *input = input_open(t->found, true, a->err);
    int result;

    if (!input) {
        if (a->err->code == ERR_INPUT)
            err_set(a->err, ERR_INPUT,
                    "%s: there is no such file any more; name the captures behind the result",
                    t->found);
        return -a->err->code;
    }
    result = tables_prepare(a->db, select_comments, &a->row, a->err);
    if (result == 0) {
        tables_bind_unless(a->row, 1, t->source[SIDE_REF], 0);
        tables_bind_unless(a->row, 2, t->source[SIDE_SUT], 0);
        result = next_row(a);
    }
    if (result == 0 && !(t->output = output_open(t->path, a->err)))
        result = -a->err->code;
    if (result == 0)
        result = copy_target(a, t, input);
    sqlite3_finalize(a->row);
    a->row = NULL;
    input_close(input);
    return result;
}

static int run(struct annotate *a, const char *path, const char *const *captures, uint32_t count)
{
    int result = list_targets(a);

    if (result == 0)
        result = find_captures(a, captures, count);
    if (result == 0)
        result = make_names(a, path);
    for (uint32_t i = 0; result == 0 && i < a->count; i++)
        result = annotate_one(a, &a->targets[i]);
    for (uint32_t i = 0; result == 0 && i < a->count; i++)
        result = output_commit(a->targets[i].output, a->err);
    return result;
}

int report_annotate(sqlite3 *db, const char *path, const char *const *captures, uint32_t count,
                    void (*made)(void *ctx, const struct annotated *file), void *ctx,
                    struct err *err)
{
    struct annotate a = { .db = db, .err = err };
    int result;

    if (strcmp(path, "-") == 0 || !*path)
        return err_set(err, ERR_USAGE, "--annotate takes a file's name, of which others are made");
    a.targets = calloc(ANNOTATE_CAPTURES_MAX, sizeof(*a.targets));
    result = a.targets ? run(&a, path, captures, count) : no_memory(&a);
    for (uint32_t i = 0; i < a.count; i++) {
        struct target *t = &a.targets[i];
        const struct annotated file = { t->path, t->found, t->copied, t->commented };

        if (result == 0 && made)
            made(ctx, &file);
        output_close(t->output);
        free(t->name);
        free(t->found);
        free(t->path);
    }
    free(a.targets);
    return result;
}
