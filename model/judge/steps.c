/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/steps.h"
#include "base/grow.h"

#include <stdlib.h>

enum { SECOND = 1000000000 };

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
    if (GROW(s->steps, s->count, s->cap) < 0)
        return NULL;
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
            return err_memory(err, "times");
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

int steps_set(struct steps *s, uint64_t fsid, bool of_before, enum stamp stamp, int64_t ns,
              struct err *err)
{
    bool full;
    struct step *step = get(s, fsid, &full);

    if (!step && !full)
        return err_memory(err, "times");
    if (step)
        step->ns[of_before][stamp] = ns;
    return 0;
}

void steps_free(struct steps *s)
{
    free(s->steps);
    *s = (struct steps){ 0 };
}
