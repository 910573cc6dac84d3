/* SPDX-License-Identifier: GPL-2.0-or-later */
/* model/lint/lint_names.c
 *
 * What names in directories stand for, against what earlier replies showed.  A name is judged and
 * learned only if no other operation that may change this name overlapped.  The contract is in
 * lint_parts.h.
 */
#include "lint/lint_parts.h"

#include "base/digest.h"
#include "base/grow.h"

#include <inttypes.h>
#include <stdio.h>

/* A name in the arguments, and what the result says of it. */
struct outcome {
    uint32_t directory;
    struct bytes name;
    enum name_state before, after; /* |after|: NAME_UNKNOWN: as it was */
    uint32_t object;               /* behind it, or 0 */
    bool makes, takes;             /* the operation tries that */
};

static bool changes_names(enum action action)
{
    return action_takes_name(action) || action_makes_name(action) || action_makes_name2(action);
}

static bool is_exclusive(const struct effect *e)
{
    return effect_action(e) == ACTION_MAKE && e->asked.bits & ASKED_HOW &&
           e->asked.how == EXCLUSIVE;
}

/* Of the operations that make names, few say how, and that may not have been captured. */
static bool is_guarded(const struct effect *e)
{
    if (effect_action(e) != ACTION_MAKE)
        return true;
    if (!(e->asked.bits & ASKED_HOW))
        return e->arguments != WALK_TRUNCATED || !(e->procedure->arguments->roles & ROLE_SETS_HOW);
    return e->asked.how != UNCHECKED;
}

/* Of a name that the operation finds or removes. */
static void judge_found(const struct effect *e, struct outcome *o)
{
    if (e->succeeded)
        o->before = o->after = NAME_THERE;
    else if (e->status == NFS3ERR_NOENT)
        o->before = o->after = NAME_NOT_THERE;
}

/* Of a name that the operation makes. */
static void judge_made(const struct effect *e, struct outcome *o)
{
    if (e->succeeded) {
        o->before =
            is_guarded(e) && effect_action(e) != ACTION_RENAME ? NAME_NOT_THERE : NAME_UNKNOWN;
        o->after = NAME_THERE;
    } else if (e->status == NFS3ERR_EXIST && effect_action(e) != ACTION_RENAME) {
        o->before = o->after = NAME_THERE;
    }
}

/* The names of an operation: up to two. */
static uint32_t outcomes(const struct effect *e, struct outcome o[2])
{
    enum action action = effect_action(e);
    uint32_t count = 0;

    if (action == ACTION_FIND || action_takes_name(action)) {
        o[count] = (struct outcome){ .directory = e->object,
                                     .name = e->name,
                                     .takes = action != ACTION_FIND };
        judge_found(e, &o[count]);
        if (e->succeeded && action == ACTION_FIND)
            o[count].object = e->new_object;
        else if (e->succeeded)
            o[count].after = NAME_NOT_THERE;
        count++;
    }
    if (action_makes_name(action) || action_makes_name2(action)) {
        bool second = action_makes_name2(action);

        o[count] = (struct outcome){ .directory = second ? e->parent2 : e->object,
                                     .name = second ? e->name2 : e->name,
                                     .makes = true };
        judge_made(e, &o[count]);
        if (e->succeeded)
            o[count].object = action == ACTION_LINK ? e->object : e->new_object;
        count++;
    }
    return count;
}

static bool is_dot(struct bytes name)
{
    return name.len && name.len <= 2 && name.data[0] == '.' && name.data[name.len - 1] == '.';
}

static void unchain(struct lint *lint, uint32_t place)
{
    const struct lint_name *n = &lint->names[place];

    if (n->previous)
        lint->names[n->previous - 1].next = n->next;
    else
        lint_object(lint, n->directory)->names = n->next; /* it is there while it has names */
    if (n->next)
        lint->names[n->next - 1].previous = n->previous;
}

/* The place of the name that is forgotten next.  TABLE_NONE: operations under way need them all. */
static uint32_t forget(struct lint *lint)
{
    for (uint32_t tries = 0; tries < lint->name_count; tries++) {
        uint32_t at = lint->name_next;

        lint->name_next = (at + 1) % lint->name_count;
        if (lint->names[at].active)
            continue;
        unchain(lint, at);
        table_remove(&lint->by_name, lint->names[at].hash, at);
        return at;
    }
    return TABLE_NONE;
}

void lint_names_forget(struct lint *lint, struct lint_object *directory)
{
    for (uint32_t at = directory->names; at;) {
        struct lint_name *n = &lint->names[at - 1];
        uint32_t next = n->next;

        table_remove(&lint->by_name, n->hash, at - 1);
        *n = (struct lint_name){ .next = lint->name_free };
        lint->name_free = at;
        at = next;
    }
    directory->names = 0;
}

static uint32_t free_place(struct lint *lint)
{
    uint32_t at = lint->name_free;

    if (at) {
        lint->name_free = lint->names[at - 1].next;
        return at - 1;
    }
    if (lint->name_count == lint->options.names)
        return forget(lint);
    if (GROW(lint->names, lint->name_count, lint->name_cap) < 0)
        return TABLE_NONE;
    return lint->name_count++;
}

/* Returns the name; makes it if it is new.  NULL: there is no room; then names are not judged any
 * more.  The pointer lives until the next call. */
static struct lint_name *find(struct lint *lint, uint32_t directory, struct bytes name)
{
    uint64_t hash = XXH3_64bits_withSeed(name.data, name.len, directory);
    struct lint_object *o;
    uint32_t at, place;

    for (uint32_t i = table_first(&lint->by_name, hash, &at); i != TABLE_NONE;
         i = table_next(&lint->by_name, hash, &at))
        if (lint->names[i].directory == directory)
            return &lint->names[i];
    o = lint_object(lint, directory);
    place = o ? free_place(lint) : TABLE_NONE;
    if (place == TABLE_NONE || table_add(&lint->by_name, hash, place) < 0) {
        lint->names_blind = INT64_MAX;
        return NULL;
    }
    lint->names[place] = (struct lint_name){
        .hash = hash, .directory = directory, .next = o->names, .changed = INT64_MIN
    };
    if (o->names)
        lint->names[o->names - 1].previous = place + 1;
    o->names = place + 1;
    return &lint->names[place];
}

/* A name that is not known may have changed. */
static void be_blind(struct lint *lint, const struct effect *e)
{
    int64_t until = e->timed && e->pairing == PAIRED ? e->done_time : INT64_MAX;

    if (until > lint->names_blind)
        lint->names_blind = until;
}

void lint_names_called(struct lint *lint, struct effect *e)
{
    struct outcome o[2];
    uint32_t count = changes_names(effect_action(e)) ? outcomes(e, o) : 0;

    for (uint32_t i = 0; i < count; i++) {
        struct lint_name *n = NULL;

        if (o[i].directory && o[i].name.data)
            n = find(lint, o[i].directory, o[i].name);
        if (!n) {
            be_blind(lint, e);
            continue;
        }
        if (++n->active == 2) {
            n->contended = true;
            lint->removing++;
        }
        n->unsure |= !e->timed || e->pairing != PAIRED;
        e->mark |= MAY_NAME << i;
    }
}

/* Nothing else that may change it overlapped |e|, of which |mine| are counted as under way. */
static bool is_alone(struct lint *lint, const struct lint_name *n, const struct effect *e,
                     uint32_t mine)
{
    if (lint->any_alias && lint_object(lint, n->directory)->aliased) /* it is there for its names */
        return false;
    return e->timed && !n->unsure && n->active == mine && n->changed < e->call_time &&
           lint->blind < e->call_time && lint->names_blind < e->call_time;
}

static bool is_quiet(struct lint *lint, const struct lint_name *n, const struct effect *e)
{
    return is_alone(lint, n, e, 0);
}

static bool is_known(const struct lint *lint, const struct lint_name *n, const struct effect *e)
{
    return n->state != NAME_UNKNOWN && n->known_at < e->call_time && n->known_at > lint->blind &&
           n->known_at > lint->names_blind;
}

static int judge_state(struct lint *lint, const struct effect *e, const struct outcome *o,
                       const struct lint_name *n, struct err *err)
{
    bool there = n->state == NAME_THERE;
    enum lint_id id = there ? LINT_NAME_LOST : LINT_NAME_RETURNED;

    if (o->before == NAME_UNKNOWN || o->before == n->state)
        return 0;
    if (e->calls_again && !e->succeeded && (o->takes || o->makes))
        id = LINT_EXECUTED_TWICE;
    else if (there && o->makes)
        id = LINT_MAKE_EXISTS;
    if (id == LINT_EXECUTED_TWICE)
        return LINT_SAY(lint, id, e, n->known_by, err,
                        "%s of %s, sent %" PRIu32 " times; before that, the name was %s",
                        e->status == NFS3ERR_NOENT ? "NFS3ERR_NOENT" : "NFS3ERR_EXIST",
                        e->procedure->name, e->calls_again + 1, there ? "there" : "not there");
    return LINT_SAY(lint, id, e, n->known_by, err, "%s shows that the name %s, but it %s",
                    e->procedure->name, o->before == NAME_THERE ? "was there" : "was not there",
                    there ? "was there" : "was not there");
}

/* Another object than before, or another handle. */
static int judge_object(struct lint *lint, const struct effect *e, const struct outcome *o,
                        const struct lint_name *n, struct err *err)
{
    int64_t earlier = n->known_by;
    const struct lint_object *found;
    struct lint_object was, is;

    if (n->state != NAME_THERE || o->before == NAME_NOT_THERE || o->takes ||
        effect_action(e) == ACTION_RENAME || !n->object || !o->object || n->object == o->object)
        return 0;
    found = lint_object(lint, n->object);
    was = found ? *found : (struct lint_object){ 0 };
    found = lint_object(lint, o->object);
    is = found ? *found : (struct lint_object){ 0 };
    if (!was.identified || !is.identified)
        return 0;
    if (was.fsid == is.fsid && was.fileid == is.fileid)
        return LINT_SAY(lint, LINT_HANDLE_CHANGED, e, earlier, err,
                        "another handle for fileid %" PRIu64, is.fileid);
    return LINT_SAY(lint, LINT_NAME_CHANGED, e, earlier, err,
                    "fileid %" PRIu64 ", and was %" PRIu64, is.fileid, was.fileid);
}

static void learn(struct lint_name *n, const struct effect *e, const struct outcome *o)
{
    bool same = n->state == NAME_THERE && o->before == NAME_THERE && !o->object;

    if (o->after == NAME_UNKNOWN)
        return;
    n->state = (uint8_t)o->after;
    n->object = o->after != NAME_THERE ? 0 : same ? n->object : o->object;
    n->known_by = e->id;
    n->known_at = e->done_time;
}

/* Two names for one object: then RENAME does nothing (s3.3.14). */
static bool may_do_nothing(const struct lint_name *from, const struct lint_name *to)
{
    return from == to ||
           (to->state != NAME_NOT_THERE && (to->state == NAME_UNKNOWN || !from->object ||
                                            !to->object || from->object == to->object));
}

static struct lint_taken taken(struct lint *lint, const struct effect *e, const struct outcome *o,
                               uint32_t mine)
{
    const struct lint_name *n;
    struct lint_taken t = { 0 };

    if (!o->directory || !o->name.data || is_dot(o->name) ||
        !(n = find(lint, o->directory, o->name)))
        return t;
    t.object = n->object;
    t.known = is_alone(lint, n, e, mine) && is_known(lint, n, e) &&
              (n->state == NAME_NOT_THERE || n->object);
    t.sure = t.known && t.object;
    return t;
}

struct lint_taken lint_names_taken(struct lint *lint, const struct effect *e, uint32_t mine)
{
    struct outcome o[2];
    struct lint_taken from, t = { 0 };
    uint32_t count = outcomes(e, o);

    if (!count)
        return t;
    t = taken(lint, e, &o[count - 1], mine);
    if (count == 2) { /* two names of one object: nothing is replaced */
        from = taken(lint, e, &o[0], mine);
        t.sure &= from.sure && from.object != t.object;
    }
    return t;
}

/* What a RENAME that worked means for its two names. */
static void move(struct lint *lint, const struct effect *e, struct outcome o[2])
{
    const struct lint_name *to = find(lint, o[1].directory, o[1].name);
    uint32_t at = to ? (uint32_t)(to - lint->names) : 0;
    const struct lint_name *from = to ? find(lint, o[0].directory, o[0].name) : NULL;

    if (!from)
        return;
    to = &lint->names[at];
    o[1].object = is_known(lint, from, e) && from->state == NAME_THERE ? from->object : 0;
    if (!is_known(lint, to, e) || may_do_nothing(from, to))
        o[0].after = NAME_UNKNOWN;
}

/* The CREATE that made the name, sent again: a verifier that was not captured may be any one. */
static bool may_be_same(const struct lint_name *n, const struct effect *e,
                        const struct lint_body *body)
{
    if (!is_exclusive(e) || !n->exclusive)
        return false;
    return !n->has_verifier || !body->has_made_by || n->verifier == body->made_by;
}

static int take_outcome(struct lint *lint, const struct effect *e, const struct outcome *o,
                        const struct lint_body *body, struct err *err)
{
    struct lint_name *n = find(lint, o->directory, o->name);
    bool changes = o->makes || o->takes, quiet = n && is_quiet(lint, n, e);
    bool same_verifier = n && may_be_same(n, e, body);
    bool undone = o->takes && e->succeeded && o->after == NAME_UNKNOWN;
    struct lint_name before;
    int result = 0;

    if (!n)
        return 0;
    before = *n;
    if (quiet && is_known(lint, n, e)) {
        if (!(e->succeeded && o->makes && same_verifier))
            result = judge_state(lint, e, o, &before, err);
        if (result == 0)
            result = judge_object(lint, e, o, &before, err);
    }
    if (o->takes && e->succeeded && effect_action(e) == ACTION_REMOVE && before.object) {
        struct lint_object *gone = lint_object(lint, before.object);

        if (gone)
            lint_contents_spoil(lint, gone); /* nobody needs them */
    }
    n = find(lint, o->directory, o->name); /* others may have moved it */
    if (!n)
        return result;
    if (quiet && !undone)
        learn(n, e, o);
    else if (changes || undone)
        n->state = NAME_UNKNOWN;
    if (changes)
        n->changed = e->done_time;
    if (o->makes && e->succeeded) {
        n->exclusive = is_exclusive(e);
        n->has_verifier = body->has_made_by;
        n->verifier = body->made_by;
    }
    return result;
}

static int judge_replies(struct lint *lint, const struct effect *e, struct err *err)
{
    enum action action = effect_action(e);

    if (!(changes_names(action) || action == ACTION_SET || action == ACTION_WRITE))
        return 0;
    lint->counts.sent_again += e->calls_again && e->rpc_status != STATUS_NONE;
    if (!e->replies_differ)
        return 0;
    return LINT_SAY(lint, LINT_ANSWERS_DIFFER, e, 0, err,
                    "sent %" PRIu32 " times, and a later reply has other bytes",
                    e->calls_again + 1);
}

/* If others overlapped, it is not known which object had the name, and lost it. */
static void release(struct lint *lint, struct lint_name *n, const struct effect *e)
{
    if (--n->active || !n->contended)
        return;
    n->contended = false;
    lint->removing--;
    if (e->done_time > lint->removed)
        lint->removed = e->done_time;
}

int lint_names_done(struct lint *lint, const struct effect *e, const struct lint_body *body,
                    struct err *err)
{
    struct outcome o[2];
    uint32_t count = outcomes(e, o);
    int result = judge_replies(lint, e, err);

    for (uint32_t i = 0; i < count; i++) {
        struct lint_name *n =
            e->mark & MAY_NAME << i ? find(lint, o[i].directory, o[i].name) : NULL;

        if (n)
            release(lint, n, e);
        if (!o[i].directory || !o[i].name.data || is_dot(o[i].name))
            o[i].directory = 0;
        if (!o[i].directory && changes_names(effect_action(e)))
            be_blind(lint, e);
    }
    if (effect_action(e) == ACTION_RENAME && e->succeeded && o[0].directory && o[1].directory)
        move(lint, e, o);
    for (uint32_t i = 0; result == 0 && i < count; i++)
        if (o[i].directory)
            result = take_outcome(lint, e, &o[i], body, err);
    return result;
}

int lint_names_listed(struct lint *lint, struct lint_listed *listed, struct err *err)
{
    const struct effect *e = listed->effect;
    const struct outcome o = {
        .directory = e->object, .name = listed->name, .before = NAME_THERE, .after = NAME_THERE
    };
    static const struct lint_body no_body;
    struct lint_name *n;
    int result;

    listed->again = false;
    if (is_dot(listed->name))
        return 0;
    result = take_outcome(lint, e, &o, &no_body, err);
    n = result == 0 ? find(lint, e->object, listed->name) : NULL;
    if (!n)
        return result;
    listed->again = listed->listing && n->listed == listed->listing && n->listed_by != e->id;
    n->listed = listed->listing;
    n->listed_by = e->id;
    return 0;
}
