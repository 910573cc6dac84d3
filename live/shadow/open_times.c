/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live/shadow/open_times.c
 *
 * Objects whose times two requests at the same time have set, so that nobody knows which server has
 * which: a client sets the times of a directory while others make names in it.  All else is the
 * same on both servers, so that requests are sent and compared as before, but for these times
 * (teelog_open_times).  When no request touches the object for a while, and no other request has
 * set its times, the copy sets them on the SUT, without reading the object.  Until then, the object
 * is as good as before; while the copy has it, requests about it are not compared.
 */
#include "base/grow.h"
#include "shadow/shadow_parts.h"

/* ns */
#define LATE INT64_C(50000000)
#define QUIET INT64_C(100000000) /* since the last message of a client */

/* While clients work, they may come back to an object soon, and find it being copied. */
enum { LOOKS_QUIET = 2, LOOKS_BUSY = 12 };

int open_times_note(struct shadow *s, struct touch *mine, struct touch *theirs, struct err *err)
{
    struct known_rare *rare = known_rare_get(s, mine->object, err);

    if (!rare)
        return -err->code;
    mine->opens_times = theirs->opens_times = true;
    if (rare->times_open)
        return 0;
    if (GROW(s->open_times, s->open_count, s->open_cap) < 0)
        return err_memory(err, "objects");
    s->open_times[s->open_count++] = (struct open_times){ .object = mine->object };
    rare->times_open = true;
    return 0;
}

int open_times_tell(struct shadow *s, const struct request *r, struct err *err)
{
    for (const struct touch *t = touch_at(s, r->touches); t; t = touch_at(s, t->further))
        if (t->opens_times && t->epoch == known_of(s, t->object)->epoch &&
            teelog_open_times(s->log, t->object, err) < 0)
            return -err->code;
    return 0;
}

/* Returns 1 if the object need not be looked at any more. */
static int look_at(struct shadow *s, struct open_times *open, struct err *err)
{
    struct mirror_object *object = mirror_at(s->mirror, open->object);

    if (!object || object->state != MIRROR_SYNCHRONIZED) /* the copy sets all of it */
        return 1;
    if (known_of(s, open->object)->is_held || touches_of(s, open->object)) {
        open->calm = 0;
        return 0;
    }
    if (++open->calm < (loop_now(s->loop) - s->client_seen > QUIET ? LOOKS_QUIET : LOOKS_BUSY))
        return 0;
    if (teelog_has_open_times(s->log, open->object) &&
        (dispatch_again(s, object, s->position, err) < 0 || gaps_only_times(s, object, err) < 0))
        return -err->code;
    return 1;
}

int open_times_look(struct shadow *s, struct err *err)
{
    uint32_t kept = 0;

    if (loop_now(s->loop) - tap_ring_caught_up(s->ring) > LATE) /* requests wait in the ring */
        return 0;
    for (uint32_t i = 0; i < s->open_count; i++) {
        struct open_times open = s->open_times[i];
        struct known_rare *rare;
        int result = look_at(s, &open, err);

        if (result < 0)
            return result;
        if (!result)
            s->open_times[kept++] = open;
        else if ((rare = known_rare_find(s, open.object)))
            rare->times_open = false;
    }
    s->open_count = kept;
    return 0;
}
