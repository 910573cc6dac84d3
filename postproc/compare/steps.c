/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/steps.h"

#include "compare/db.h"

#include <stdlib.h>
#include <string.h>

enum { SECOND = 1000000000 };

static const char *const time_names[STEP_TIMES] = { NULL, "atime", "mtime", "ctime" };

int64_t step_of_time(int64_t time)
{
    static const int64_t steps[] = { SECOND, 100000000, 10000000, 4000000, 1000000, 1000, 1 };
    size_t i = 0;

    while (time % steps[i])
        i++;
    return steps[i];
}

static struct step *find(struct steps *s, uint64_t fsid)
{
    if (s->last < s->count && s->steps[s->last].fsid == fsid)
        return &s->steps[s->last];
    for (uint32_t i = 0; i < s->count; i++)
        if (s->steps[i].fsid == fsid) {
            s->last = i;
            return &s->steps[i];
        }
    return NULL;
}

/* NULL: no memory, or |full|. */
static struct step *get(struct steps *s, uint64_t fsid, bool *full)
{
    struct step *step = find(s, fsid);

    *full = !step && s->count == STEPS_MAX;
    if (step || *full)
        return step;
    if ((s->count & (s->count - 1)) == 0) { /* 0 and powers of two */
        void *grown = realloc(s->steps, (s->count ? s->count * 2 : 1) * sizeof(*s->steps));

        if (!grown)
            return NULL;
        s->steps = grown;
    }
    s->last = s->count;
    s->steps[s->count] = (struct step){ .fsid = fsid };
    return &s->steps[s->count++];
}

static void note(int64_t *step, int64_t time)
{
    if (*step != 1) {
        int64_t own = step_of_time(time);

        if (!*step || own < *step)
            *step = own;
    }
}

/* |ctime| is the server's own, and so is what is of the same second; nearly always, see steps_find.
 */
static void note_beside(int64_t *step, int64_t time, int64_t ctime)
{
    if (time / SECOND == ctime / SECOND)
        note(step, time);
}

int steps_note(struct steps *s, const struct effect *e, struct err *err)
{
    for (int whose = 0; whose < OF_ENTRY; whose++) {
        struct attributes a;
        struct attributes_before b;
        struct step *step;
        bool full;

        if (!effect_attributes(e, (enum whose)whose, &a) || a.is_over)
            continue;
        step = get(s, a.fsid, &full);
        if (!step && full)
            continue;
        if (!step)
            return err_set(err, ERR_SYSTEM, "out of memory");
        note(&step->ns[0][STAMP_CTIME], a.ctime);
        note_beside(&step->ns[0][STAMP_MTIME], a.mtime, a.ctime);
        note_beside(&step->ns[0][STAMP_ATIME], a.atime, a.ctime);
        if (!effect_before(e, (enum whose)whose, &b) || b.is_over)
            continue;
        note(&step->ns[1][STAMP_CTIME], b.ctime);
        note_beside(&step->ns[1][STAMP_MTIME], b.mtime, b.ctime);
    }
    return 0;
}

int64_t steps_find(struct steps *s, uint64_t fsid, bool of_before, enum stamp stamp)
{
    const struct step *step = find(s, fsid);

    if (!step)
        return 0;
    for (int before = of_before; before >= 0; before--) { /* what is nearest to it */
        int64_t own = step->ns[before][stamp], ctime = step->ns[before][STAMP_CTIME];

        if (own || ctime) /* clients may set finer times than the server's clock has */
            return own > ctime ? own : ctime;
    }
    return 0;
}

int steps_write(const struct steps *s, sqlite3 *db, int side, struct err *err)
{
    sqlite3_stmt *stmt;
    int result = 0;

    if (tables_prepare(db, "INSERT INTO main.granularity VALUES (?,?,?,?,?)", &stmt, err) < 0)
        return -err->code;
    for (uint32_t i = 0; i < s->count; i++)
        for (int k = 0; result == 0 && k < 2 * STEP_TIMES; k++) {
            int64_t ns = s->steps[i].ns[k / STEP_TIMES][k % STEP_TIMES];

            if (!ns)
                continue;
            sqlite3_bind_int(stmt, 1, side + 1);
            sqlite3_bind_int64(stmt, 2, (int64_t)s->steps[i].fsid);
            sqlite3_bind_int(stmt, 3, k / STEP_TIMES);
            db_bind_text(stmt, 4, time_names[k % STEP_TIMES]);
            sqlite3_bind_int64(stmt, 5, ns);
            result = tables_step(db, stmt, err);
        }
    sqlite3_finalize(stmt);
    return result;
}

int steps_read(struct steps *s, sqlite3 *db, int side, struct err *err)
{
    sqlite3_stmt *stmt;
    int result;

    if (tables_prepare(db,
                       "SELECT fsid, is_before, time, step FROM main.granularity WHERE side = ?",
                       &stmt, err) < 0)
        return -err->code;
    sqlite3_bind_int(stmt, 1, side + 1);
    while ((result = db_row(db, stmt, err)) > 0) {
        int64_t before = sqlite3_column_int64(stmt, 1), ns = sqlite3_column_int64(stmt, 3);
        const char *name = (const char *)sqlite3_column_text(stmt, 2);
        int stamp = STEP_TIMES - 1;
        struct step *step;
        bool full;

        while (stamp && !(name && strcmp(name, time_names[stamp]) == 0))
            stamp--;
        if (!stamp || (before & ~INT64_C(1)) || ns < 1 || ns > SECOND) {
            result = err_set(err, ERR_INPUT, "damaged: table granularity: out of range");
            break;
        }
        step = get(s, (uint64_t)sqlite3_column_int64(stmt, 0), &full);
        if (step)
            step->ns[before][stamp] = ns;
        else if (!full) {
            result = err_set(err, ERR_SYSTEM, "out of memory");
            break;
        }
    }
    sqlite3_finalize(stmt);
    return result;
}

void steps_free(struct steps *s)
{
    free(s->steps);
    *s = (struct steps){ 0 };
}
