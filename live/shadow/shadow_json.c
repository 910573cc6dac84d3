/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shadow/shadow_parts.h"

const char *shadow_fate_name(enum shadow_fate fate)
{
    static const char *const names[FATES] = {
        [FATE_COMPARED] = "compared",
        [FATE_UNANSWERED] = "unanswered",
        [FATE_NOT_SYNCHRONIZED] = "not_synchronized",
        [FATE_EXCLUDED] = "excluded",
        [FATE_OVERLAPPING] = "overlapping",
        [FATE_GAP] = "gap",
        [FATE_SUT_SLOW] = "sut_slow",
        [FATE_SUT_GONE] = "sut_gone",
        [FATE_LISTING] = "listing",
        [FATE_SECURED] = "secured",
        [FATE_WITHOUT_OBJECT] = "without_object",
        [FATE_NOT_NFS] = "not_nfs",
        [FATE_TOO_LONG] = "too_long",
    };

    return names[fate];
}

const struct shadow_counts *shadow_counts(struct shadow *s)
{
    return &s->counts;
}

const struct teelog_counts *shadow_verdicts(const struct shadow *s)
{
    return s->log ? teelog_counts(s->log) : &s->verdicts;
}

/* Nor is it while the SUT's root has a name of ours: listings of it are not compared then. */
bool shadow_is_synchronized(const struct shadow *s)
{
    return !s->open_count && !s->names_changed && shadow_has_copied_all(s) &&
           !copy_counts(s->copy).has_scratch;
}

bool shadow_has_copied_all(const struct shadow *s)
{
    const struct copy_counts c = copy_counts(s->copy);

    return mirror_count_state(s->mirror, MIRROR_SYNCHRONIZED) &&
           !mirror_count_state(s->mirror, MIRROR_QUEUED) &&
           !mirror_count_state(s->mirror, MIRROR_COPYING) && !c.pausing && !c.at_work;
}

static void put_requests(const struct shadow *s, struct json *j)
{
    const struct shadow_counts *c = &s->counts;

    json_object(j, "requests");
    json_u64(j, "all", c->requests);
    for (int i = 0; i < FATES; i++)
        json_u64(j, shadow_fate_name((enum shadow_fate)i), c->fates[i]);
    json_u64(j, "waiting", c->waiting);
    json_u64(j, "waiting_bytes", c->waiting_bytes);
    json_u64(j, "in_flight", c->in_flight);
    json_object_end(j);
}

uint64_t shadow_objects(const struct shadow *s, enum mirror_state state)
{
    return mirror_count_state(s->mirror, state);
}

struct copy_counts shadow_copied(const struct shadow *s)
{
    return copy_counts(s->copy);
}

const char *shadow_state_name(enum mirror_state state)
{
    static const char *const names[MIRROR_STATES] = {
        [MIRROR_UNKNOWN] = "unknown",   [MIRROR_QUEUED] = "queued",
        [MIRROR_COPYING] = "copying",   [MIRROR_SYNCHRONIZED] = "synchronized",
        [MIRROR_DIVERGED] = "diverged", [MIRROR_EXCLUDED] = "excluded",
        [MIRROR_GONE] = "gone",
    };

    return names[state];
}

static void put_objects(const struct shadow *s, struct json *j)
{
    json_object(j, "objects");
    for (int i = 0; i < MIRROR_STATES; i++)
        json_u64(j, shadow_state_name((enum mirror_state)i),
                 shadow_objects(s, (enum mirror_state)i));
    json_u64(j, "memory", mirror_memory(s->mirror));
    json_object_end(j);
    json_object(j, "copied_again");
    json_u64(j, "overlaps", s->counts.overlaps);
    json_u64(j, "diverged", s->counts.diverged);
    json_u64(j, "changed_behind", s->counts.behind);
    json_u64(j, "mended", s->counts.mended);
    json_u64(j, "gaps", s->counts.gaps);
    json_object_end(j);
}

static void put_copy(const struct shadow *s, struct json *j)
{
    struct copy_counts c = copy_counts(s->copy);

    json_object(j, "copy");
    json_u64(j, "files", c.files);
    json_u64(j, "directories", c.directories);
    json_u64(j, "links", c.links);
    json_u64(j, "others", c.others);
    json_u64(j, "bytes_read", c.bytes_read);
    json_u64(j, "bytes_written", c.bytes_written);
    json_u64(j, "holes", c.holes);
    json_u64(j, "reference_calls", c.reference_calls);
    json_u64(j, "sut_calls", c.sut_calls);
    json_u64(j, "made", c.made);
    json_u64(j, "removed", c.removed);
    json_u64(j, "again", c.again);
    json_u64(j, "same", c.same);
    json_u64(j, "played", c.played);
    json_u64(j, "refused_owners", c.refused_owners);
    json_u64(j, "acls", c.acls);
    json_u64(j, "refused_acls", c.refused_acls);
    json_u64(j, "at_work", c.at_work);
    json_u64(j, "pausing", c.pausing);
    json_bool(j, "scratch", c.has_scratch);
    json_object(j, "failed");
    for (int i = 0; i < COPY_REASONS; i++)
        if (c.failed[i])
            json_u64(j, copy_why_text((enum copy_why)i), c.failed[i]);
    json_object_end(j);
    json_object_end(j);
}

static void put_scrub(const struct scrub_counts *c, struct json *j)
{
    json_object(j, "scrub");
    json_u64(j, "passes", c->passes);
    json_u64(j, "objects", c->objects);
    json_u64(j, "bytes", c->bytes);
    json_u64(j, "differ", c->differ);
    json_u64(j, "disturbed", c->disturbed);
    json_u64(j, "unanswered", c->unanswered);
    json_u64(j, "too_long", c->too_long);
    json_u64(j, "incurable", c->incurable);
    json_object_end(j);
}

void shadow_json(struct shadow *s, struct json *j)
{
    const struct teelog_counts *t = shadow_verdicts(s);
    const struct shadow_counts *c = &s->counts;

    put_requests(s, j);
    json_object(j, "verdicts");
    json_u64(j, "pairs", t->pairs);
    json_u64(j, "agree", t->agree);
    json_u64(j, "differ", t->differ);
    json_u64(j, "withheld", t->withheld);
    json_object_end(j);
    json_object(j, "log");
    json_u64(j, "pairs", t->logged);
    json_u64(j, "differing_left_out", t->not_logged);
    json_u64(j, "bytes", t->log_bytes);
    json_bool(j, "failed", t->failed);
    json_object_end(j);
    put_objects(s, j);
    put_copy(s, j);
    put_scrub(&c->scrub, j);
    json_object(j, "sut");
    json_u64(j, "connections_lost", c->sut_lost);
    json_u64(j, "began_anew", c->sut_anew);
    json_object_end(j);
    json_object(j, "reference");
    json_u64(j, "own_requests", c->own);
    json_u64(j, "of_other_synchronizers", c->others);
    json_object_end(j);
    json_object(j, "ring");
    json_u64(j, "gaps", c->gaps);
    json_u64(j, "lost_entries", c->lost_entries);
    json_object_end(j);
    latencies_json(s, j);
}
