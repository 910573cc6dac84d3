/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lint/lint_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lint_reads_quiet(const struct lint *lint, const struct lint_object *o, const struct effect *e)
{
    return e->timed && !o->active && o->changed < e->call_time && lint->blind < e->call_time;
}

/* A restart of the server may lose what was read, too, if it was not committed. */
struct lint_written lint_reads_written(const struct lint *lint, const struct effect *e)
{
    uint32_t verifier = lint_verifier_now(lint, e->server_number);

    return (struct lint_written){ .by = e->id,
                                  .at = e->done_time,
                                  .verifier = verifier,
                                  .stable = verifier == 0, /* nobody writes */
                                  .read = true };
}

static struct lint_read *place_of(struct lint *lint, uint32_t object, const struct effect *e)
{
    uint64_t h = (object ^ e->offset * UINT64_C(0xd6e8feb86659fd93) ^ e->done << 40) *
                 UINT64_C(0x9e3779b97f4a7c15);

    if (!lint->reads)
        lint->reads = calloc(LINT_READS, sizeof(*lint->reads));
    return lint->reads ? &lint->reads[(h ^ h >> 31) % LINT_READS] : NULL;
}

static bool is_known(const struct lint *lint, const struct lint_object *o,
                     const struct lint_read *r, const struct effect *e)
{
    return r->object == o->id && r->offset == e->offset && r->count == e->done &&
           r->called > o->changed && r->called > o->spoiled && r->called > lint->blind;
}

int lint_reads_judge(struct lint *lint, const struct lint_object *o, const struct effect *e,
                     struct err *err)
{
    struct lint_read *r;

    if (!e->has_digest || !e->done || !lint_reads_quiet(lint, o, e))
        return 0;
    r = place_of(lint, o->id, e);
    if (!r)
        return err_memory(err, "what was read");
    if (!is_known(lint, o, r, e)) {
        *r = (struct lint_read){ .offset = e->offset,
                                 .count = e->done,
                                 .written = lint_reads_written(lint, e),
                                 .called = e->call_time,
                                 .object = o->id };
        memcpy(r->digest, e->digest, sizeof(r->digest));
        return 0;
    }
    if (r->written.at >= e->call_time)
        return 0;
    lint->counts.read_again++;
    if (memcmp(r->digest, e->digest, sizeof(r->digest)) == 0)
        return 0;
    r->object = 0; /* said once */
    return LINT_SAY_UNLESS_LOST(
        lint, LINT_READ_DIFFERS, e, r->written.by, &r->written, err,
        "%" PRIu64 " byte%s at %" PRIu64 " differ%s from those of an earlier READ", e->done,
        e->done == 1 ? "" : "s", e->offset, e->done == 1 ? "s" : "");
}
