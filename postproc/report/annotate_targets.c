/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/report/annotate_targets.c
 *
 * Which captures are to be copied, where they are, and the names of the copies.
 */
#include "base/escape.h"
#include "capture/capture.h"
#include "compare/compare.h"
#include "record/format.h"
#include "report/annotate_parts.h"
#include "store/sql.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct target *find_target(struct annotate *a, const uint8_t digest[INPUT_DIGEST_LEN])
{
    for (uint32_t i = 0; i < a->count; i++)
        if (memcmp(a->targets[i].digest, digest, INPUT_DIGEST_LEN) == 0)
            return &a->targets[i];
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), tail = strlen(end);

    return len >= tail && strcmp(text + len - tail, end) == 0;
}

/* By its name, for the file may be gone, or by its magic. */
static bool is_records(const char *name)
{
    struct err unseen;
    struct input *input;
    const uint8_t *head;
    bool is;

    if (ends_with(name, ".nfsr") || ends_with(name, ".nfsr.zst") || ends_with(name, ".nfsr.gz"))
        return true;
    input = strcmp(name, "-") ? input_open(name, false, &unseen) : NULL;
    is = input && input_head(input, &head) >= NFSR_MAGIC_LEN &&
         memcmp(head, NFSR_MAGIC, NFSR_MAGIC_LEN) == 0;
    input_close(input);
    return is;
}

static int add_source(struct annotate *a, sqlite3_stmt *row)
{
    struct bytes digest = sql_column_bytes(row, 3);
    const char *name = (const char *)sqlite3_column_text(row, 2);
    struct buf path = { 0 };
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
        if (unescape_name(name, strlen(name), &path) < 0 || buf_append(&path, "", 1) < 0) {
            buf_free(&path);
            return annotate_no_memory(a);
        }
        target->name = (char *)path.data; /* and frees it */
        target->records = is_records(target->name);
    }
    target->source[sqlite3_column_int(row, 0)] = sqlite3_column_int64(row, 1);
    return 0;
}

/* |sql| has rows of side, id, name, digest and frames. */
static int list_targets(struct annotate *a, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row;
    int result = sql_prepare(db, sql, &row, a->err);

    if (result < 0)
        return result;
    while ((result = sql_row(row, a->err)) > 0 && (result = add_source(a, row)) == 0)
        ;
    sqlite3_finalize(row);
    return result;
}

static int list_result(struct annotate *a)
{
    int result = list_targets(a, a->db,
                              "SELECT side, id, name, digest, frames FROM source"
                              " WHERE side IN (1, 2) ORDER BY side, id");

    if (result == 0 && !a->count)
        result = err_set(a->err, ERR_INPUT, "the result names no capture");
    return result;
}

/* Whether a capture can be what the records of |t| were made of: as many frames, of which those
 * with discrepancies have their times.  1, 0, or negative. */
static int made_of(struct annotate *a, const struct target *t, const char *path)
{
    struct input *input = input_open(path, false, a->err);
    struct capture *capture = input ? capture_open(input, a->err) : NULL;
    struct err unseen; /* one that is cut has the frames that it has */
    struct frame frame;
    uint64_t frames = 0;
    sqlite3_stmt *row = NULL;
    int result = capture ? sql_prepare(a->db,
                                       "SELECT DISTINCT frame, time FROM frame WHERE"
                                       " ((side = 1 AND source = ?1) OR (side = 2 AND source ="
                                       " ?2)) AND time IS NOT NULL ORDER BY frame",
                                       &row, a->err)
                         : -a->err->code;

    if (result == 0) {
        sql_bind_unless(row, 1, t->source[SIDE_REF], 0);
        sql_bind_unless(row, 2, t->source[SIDE_SUT], 0);
        result = sql_row(row, a->err);
    }
    while (result >= 0 && frames <= t->frames && capture_next(capture, &frame, &unseen) == 1) {
        frames += 1 + (uint64_t)frame.skipped;
        while (result > 0 && (uint64_t)sqlite3_column_int64(row, 0) == frame.number &&
               sqlite3_column_int64(row, 1) == frame.time)
            result = sql_row(row, a->err);
    }
    sqlite3_finalize(row);
    capture_close(capture);
    input_close(input);
    return result < 0 ? result : result == 0 && frames == t->frames;
}

static struct target *find_records(struct annotate *a, const char *path)
{
    for (uint32_t i = 0; i < a->count; i++) {
        int result =
            a->targets[i].records && !a->targets[i].found ? made_of(a, &a->targets[i], path) : 0;

        if (result)
            return result > 0 ? &a->targets[i] : NULL;
    }
    err_set(a->err, ERR_INPUT, "%s: not one of the captures that were compared", path);
    return NULL;
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
    if (result < 0 && result != -ERR_INPUT)
        return result;
    target = find_target(a, digest);
    if (!target && result == 0)
        target = find_records(a, path);
    if (!target)
        return -a->err->code;
    memcpy(target->digest, digest, INPUT_DIGEST_LEN);
    free(target->found);
    target->found = strdup(path);
    return target->found ? 0 : annotate_no_memory(a);
}

static int find_captures(struct annotate *a, const char *const *captures, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (place_capture(a, captures[i]) < 0)
            return -a->err->code;
    for (uint32_t i = 0; i < a->count; i++) {
        struct target *t = &a->targets[i];

        if (t->records && !t->found)
            return err_set(a->err, ERR_INPUT,
                           "%s: has records, no packets: name the one capture that they were made "
                           "of behind the result",
                           t->name);
        if (count && !t->found)
            return err_set(a->err, ERR_INPUT, "%s: this capture, or its copy, is needed too",
                           t->name);
        if (!t->found && !(t->found = strdup(t->name)))
            return annotate_no_memory(a);
    }
    return 0;
}

/* --- names */

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
            return annotate_no_memory(a);
        }
    }
    return 0;
}

/* --- */

int annotate_start(struct annotate *a, const char *path)
{
    if (strcmp(path, "-") == 0 || !*path)
        return err_set(a->err, ERR_USAGE, "--annotate takes the name of a file, not \"-\"");
    a->targets = calloc(ANNOTATE_CAPTURES_MAX, sizeof(*a->targets));
    return a->targets ? 0 : annotate_no_memory(a);
}

void annotate_finish(struct annotate *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        output_close(a->targets[i].output);
        free(a->targets[i].name);
        free(a->targets[i].found);
        free(a->targets[i].path);
    }
    free(a->targets);
}

int annotate_targets(struct annotate *a, const struct annotate_request *r)
{
    int result = annotate_is_log(a);

    if (result > 0)
        result = annotate_log_targets(a, r);
    else if (result == 0 && (result = list_result(a)) == 0)
        result = find_captures(a, r->captures, r->count);
    return result == 0 ? make_names(a, r->path) : result;
}

int annotate_names(sqlite3 *const *dbs, uint32_t count, const char *path, uint32_t captures,
                   int (*take)(void *ctx, const char *name, struct err *err), void *ctx,
                   struct err *err)
{
    static const char *const sides[SIDES] = {
        "SELECT 1, id, name, digest, frames FROM source ORDER BY id",
        "SELECT 2, id, name, digest, frames FROM source ORDER BY id"
    };
    struct annotate a = { .db = dbs[0], .err = err };
    int result = annotate_start(&a, path);

    if (result == 0 && count == 1 && (result = annotate_is_log(&a)) >= 0)
        result = result ? annotate_log_names(&a, captures) : list_result(&a);
    for (uint32_t i = 0; result == 0 && count > 1 && i < count; i++)
        result = list_targets(&a, dbs[i], sides[i]);
    for (uint32_t i = 0; result == 0 && count > 1 && i < a.count; i++)
        if (a.targets[i].records)
            result = err_set(err, ERR_USAGE,
                             "--annotate: %s has records, no packets: keep the result with -o, and "
                             "name the captures to \"nfsdigest report --annotate\"",
                             a.targets[i].name);
    if (result == 0)
        result = make_names(&a, path);
    for (uint32_t i = 0; result == 0 && i < a.count; i++)
        result = take(ctx, a.targets[i].path, err);
    annotate_finish(&a);
    return result;
}
