/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "player/step_check.h"

#include <inttypes.h>

/* The place of a credential in the script; UINT32_MAX: it has none.  Numbers grow there. */
static uint32_t find_credential(struct step_check *c, uint32_t number)
{
    const struct script *s = c->script;
    uint32_t from = 1, to = s->credential_count + 1;

    if (!number || number == c->last_credential)
        return number ? c->last_place : 0;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;

        if (s->credentials[middle].number < number)
            from = middle + 1;
        else
            to = middle;
    }
    if (from > s->credential_count || s->credentials[from].number != number)
        return UINT32_MAX;
    c->last_credential = number;
    c->last_place = from;
    return from;
}

static int check_dependencies(uint32_t horizon, uint64_t made, const struct rdump_operation *o,
                              struct err *err)
{
    uint32_t nearest, farthest;

    if (o->cookie_from && (o->cookie_from > made || o->cookie_from >= horizon))
        return err_set(err, ERR_INPUT, "continues what is %u before it", o->cookie_from);
    if (!o->dependency_count)
        return 0;
    nearest = o->dependencies[0]; /* they do not fall: that is how they are stored */
    farthest = o->dependencies[o->dependency_count - 1];
    if (!nearest || farthest > made || farthest >= horizon)
        return err_set(err, ERR_INPUT, "depends on what is %u before it", nearest ? farthest : 0);
    return 0;
}

static inline int check_operation(const struct script *s, uint64_t made,
                                  const struct rdump_operation *o, uint32_t credential,
                                  struct err *err)
{
    uint32_t links = o->mask & RDUMP_EXPECT_ALL_LINKS;

    links = links ? (uint32_t)__builtin_popcount(links) * 4
                  : 0; /* a call, where it is no instruction */
    if (credential == UINT32_MAX)
        return err_set(err, ERR_INPUT, "credential %u, which is not there", o->credential);
    if (o->client > s->host_count || o->server > s->host_count)
        return err_set(err, ERR_INPUT, "hosts %u and %u of %u", o->client, o->server,
                       s->host_count);
    if (o->copy >= s->trace.copies)
        return err_set(err, ERR_INPUT, "copy %u of %u", o->copy, s->trace.copies);
    if (o->links.len != links)
        return err_set(err, ERR_INPUT, "%u bytes of link counts, not %u", o->links.len, links);
    return check_dependencies(s->trace.horizon, made, o, err);
}

/* Says in front of a message which operation it is about. */
static int tell_where(const struct step_check *c, uint64_t made, struct err *err)
{
    return err_prefix(err, "%s: operation %" PRIu64, c->script->path, made);
}

void step_check_init(struct step_check *c, const struct script *script)
{
    c->script = script;
    c->last_credential = c->last_place = 0;
    places_init(&c->places);
}

int step_check_other(const struct step_check *c, uint64_t made, enum rdump_kind kind,
                     const void *record, struct err *err)
{
    const struct rdump_end *end = record;

    if (kind != RDUMP_END)
        return err_set(err, ERR_INPUT, "%s: something else follows operation %" PRIu64,
                       c->script->path, made);
    if (end->operations == made)
        return 0;
    return err_set(err, ERR_INPUT, "%s: its end says %" PRIu64 " operations, there were %" PRIu64,
                   c->script->path, end->operations, made);
}

/* Everything but what places_find sets. */
static inline void fill_step(struct step *step, const struct rdump_operation *o,
                             uint32_t credential)
{
    step->time = o->time;
    step->latency = o->latency;
    step->source = o->source;
    step->digest = o->digest;
    step->client = o->client;
    step->server = o->server;
    step->copy = o->copy;
    step->credential = credential;
    step->status = o->status;
    step->made = o->made;
    step->mask = o->mask;
    step->inferred = o->inferred;
    step->unplayable = o->unplayable;
    step->number = o->procedure;
    step->arguments = o->arguments;
    step->more = NULL;
}

int step_make(struct step_check *c, uint64_t made, const struct rdump_operation *o,
              struct step *step, struct err *err)
{
    uint32_t credential = find_credential(c, o->credential);

    if (check_operation(c->script, made, o, credential, err) < 0)
        return tell_where(c, made, err);
    fill_step(step, o, credential);
    return places_find(&c->places, step, err) < 0 ? tell_where(c, made, err) : 0;
}
