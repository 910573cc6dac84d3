/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_links.c
 *
 * Link counts.  That of a file follows its names: LINK adds one, REMOVE and a RENAME over a name
 * take one from the object that had the name.  If it is not known which object that was, nothing is
 * known of any file that was seen before.  File systems count the links of directories in their own
 * ways, but with entries only, and by one.  The contract is in lint_parts.h.
 */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>

static int hold(struct lint *lint, struct effect *e, uint32_t id, struct err *err)
{
    struct lint_object *o = lint_object(lint, id);

    if (!o)
        return err_memory(err, "objects");
    o->links_active++;
    o->links_unsure |= !e->timed || e->pairing != PAIRED;
    e->mark |= MAY_LINKS;
    return 0;
}

int lint_links_called(struct lint *lint, struct effect *e, struct err *err)
{
    enum action action = effect_action(e);
    struct lint_taken t;

    if (action == ACTION_LINK)
        return e->object ? hold(lint, e, e->object, err) : 0;
    if (!action_takes_name(action))
        return 0;
    t = lint_names_taken(lint, e, 0);
    if (t.known)
        return t.object ? hold(lint, e, t.object, err) : 0;
    lint->removing++;
    lint->removing_unsure |= !e->timed || e->pairing != PAIRED;
    e->mark |= MAY_ANY_LINKS;
    return 0;
}

static void removed_any(struct lint *lint, const struct effect *e)
{
    if (e->done_time > lint->removed)
        lint->removed = e->done_time;
    lint->removing_unsure |= e->pairing != PAIRED;
}

/* No other operation that may change the count overlapped |e|. */
static bool is_quiet(const struct lint *lint, const struct lint_object *o, const struct effect *e)
{
    return e->timed && !o->links_unsure && !o->aliased && !o->said && !o->links_active &&
           o->links_changed < e->call_time && !lint->removing && !lint->removing_unsure &&
           lint->removed < e->call_time && lint->blind < e->call_time;
}

static bool is_known(const struct lint *lint, const struct lint_object *o, const struct effect *e)
{
    return o->links_known && o->links_at < e->call_time && o->links_at > lint->blind &&
           (o->type == OBJECT_DIR || o->links_at > lint->removed);
}

/* |o| lost a name, perhaps.  The last one is none to judge: the handle may stand for a new object
 * then. */
static void take_name(const struct lint *lint, struct lint_object *o, const struct effect *e,
                      bool sure)
{
    bool known = is_quiet(lint, o, e) && is_known(lint, o, e) && !e->calls_again;

    o->links_known = known && (!e->succeeded || (sure && o->type != OBJECT_DIR && o->nlink > 1));
    o->links_changed = e->done_time;
    if (!o->links_known || !e->succeeded)
        return;
    o->nlink--;
    o->links_by = e->id;
    o->links_at = e->done_time;
}

int lint_links_done(struct lint *lint, const struct effect *e, struct err *err)
{
    bool links = effect_action(e) == ACTION_LINK;
    struct lint_taken t = { 0 };
    struct lint_object *o;

    if (e->mark & MAY_ANY_LINKS) {
        lint->removing--;
        removed_any(lint, e);
        return 0;
    }
    if (!links && !action_takes_name(effect_action(e)))
        return 0;
    if (!links) {
        t = lint_names_taken(lint, e, 1);
        if (!t.known || (!t.object && e->succeeded && effect_action(e) == ACTION_REMOVE))
            removed_any(lint, e);
    }
    if (!(e->mark & MAY_LINKS))
        return 0;
    o = lint_object(lint, links ? e->object : t.object);
    if (!o)
        return err_memory(err, "objects");
    o->links_active--;
    o->links_unsure |= e->pairing != PAIRED;
    if (!links) /* else lint_links_judge goes on */
        take_name(lint, o, e, t.sure);
    return 0;
}

static void learn(struct lint_object *o, const struct effect *e, const struct attributes *a)
{
    o->links_known = true;
    o->nlink = a->nlink;
    o->links_by = e->id;
    o->links_at = e->done_time;
}

static int judge_file(struct lint *lint, const struct lint_links_seen *s,
                      const struct attributes *a, struct err *err)
{
    const struct effect *e = s->effect;
    struct lint_object *o = s->object;
    bool links = effect_action(e) == ACTION_LINK && s->whose == OF_OBJECT;
    bool adds = links && e->succeeded, quiet = is_quiet(lint, o, e);
    bool known = quiet && is_known(lint, o, e) && !(links && e->calls_again);
    uint32_t was = o->nlink;
    int64_t earlier = o->links_by;

    if (links) {
        o->links_changed = e->done_time;
        o->links_known = false;
    }
    if (!quiet || !a)
        return 0;
    learn(o, e, a);
    if (known && a->nlink != was + adds)
        return LINT_SAY(lint, LINT_LINK_COUNT, e, earlier, err,
                        "the link count is %" PRIu32 ", and was %" PRIu32 "%s", a->nlink, was,
                        adds ? " before the LINK" : "");
    if (adds && a->nlink < 2)
        return LINT_SAY(lint, LINT_LINK_COUNT, e, 0, err, "the link count is %" PRIu32, a->nlink);
    return 0;
}

/* Sets by how much |e| may change the link count of the directory. */
static void bounds(const struct lint_links_seen *s, int *least, int *most)
{
    enum action action =
        s->changes && s->effect->succeeded ? effect_action(s->effect) : ACTION_NONE;

    *least = action_takes_name(action) ? -1 : 0;
    *most = action_makes_name(action) || action_makes_name2(action) ? 1 : 0;
}

static int judge_directory(struct lint *lint, const struct lint_links_seen *s,
                           const struct attributes *a, struct err *err)
{
    const struct effect *e = s->effect;
    struct lint_object *o = s->object;
    bool quiet =
        s->quiet && !o->links_active && !o->links_unsure && o->links_changed < e->call_time;
    bool known = quiet && is_known(lint, o, e) && !(s->changes && e->calls_again);
    int64_t earlier = o->links_by, by = a ? (int64_t)a->nlink - o->nlink : 0;
    uint32_t was = o->nlink;
    int least, most;

    if (s->changes)
        o->links_known = false;
    if (!quiet || !a)
        return 0;
    learn(o, e, a);
    bounds(s, &least, &most);
    /* 1, 0: not counted; removed */
    if (!known || (by >= least && by <= most) || a->nlink < 2)
        return 0;
    return LINT_SAY(lint, LINT_LINK_COUNT, e, earlier, err,
                    "the link count is %" PRIu32 ", and was %" PRIu32, a->nlink, was);
}

int lint_links_judge(struct lint *lint, const struct lint_links_seen *s, const struct attributes *a,
                     struct err *err)
{
    if ((a ? a->type : s->object->type) == OBJECT_DIR)
        return judge_directory(lint, s, a, err);
    return judge_file(lint, s, a, err);
}
