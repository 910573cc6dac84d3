/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/survey.h"
#include "player/step_check.h"
#include "wire/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int note_length(void *ctx, const struct visit *v)
{
    uint32_t *most = ctx;

    if (v->value > *most)
        *most = v->value < UINT32_MAX ? (uint32_t)v->value : UINT32_MAX;
    return 0;
}

static void note(struct survey *s, const struct rdump_operation *o,
                 const struct procedure *procedure)
{
    struct visitor visitor = { .visit = note_length, .roles = ROLE_RANGE_LENGTH };
    struct walk state;

    s->first = s->operations ? s->first : o->time;
    s->last = !s->operations || o->time > s->last ? o->time : s->last;
    s->operations++;
    s->unplayable += o->unplayable != 0;
    if (!procedure || o->unplayable)
        return;
    s->changes |= procedure->action >= ACTION_WRITE && o->status == 0;
    if (procedure->action != ACTION_READ && procedure->action != ACTION_WRITE)
        return;
    visitor.ctx = procedure->action == ACTION_READ ? &s->read_most : &s->write_most;
    walk(&state, procedure->arguments, o->arguments.data, o->arguments.len, o->arguments.len, true,
         &visitor);
}

/* What the player's thread checks, too: nothing is to be played before it finds that. */
static int take(struct survey *s, struct step_check *check, enum rdump_kind kind,
                const void *record, struct err *err)
{
    struct step step;

    if (kind != RDUMP_OPERATION) /* the tree, which script_open has read, or the end */
        return kind < RDUMP_OPERATION && !s->operations
                   ? 0
                   : step_check_other(check, s->operations, kind, record, err);
    if (step_make(check, s->operations, record, &step, err) < 0)
        return -err->code;
    note(s, record, step.procedure);
    return 0;
}

static int read_all(struct survey *s, const struct script *script, int fd, struct err *err)
{
    struct rdump_reader *reader = rdump_reader_new(fd, script->path, err);
    struct step_check check;
    enum rdump_kind kind;
    const void *record;
    int result;

    if (!reader)
        return -err->code;
    step_check_init(&check, script);
    while ((result = rdump_next(reader, &kind, &record, err)) == 1) {
        result = take(s, &check, kind, record, err);
        if (result < 0)
            break;
    }
    rdump_reader_free(reader);
    if (result < 0 && err->code != ERR_INPUT)
        return result;
    s->damaged = result < 0;
    snprintf(s->damage, sizeof(s->damage), "%.255s", result < 0 ? err->text : "");
    return 0;
}

int survey_dump(const struct script *script, struct survey *to, struct err *err)
{
    int fd, result;

    *to = (struct survey){ .is_pipe = script->is_pipe };
    if (script->is_pipe)
        return 0;
    fd = open(script->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_INPUT, "%s: %s", script->path, strerror(errno));
    result = read_all(to, script, fd, err);
    close(fd);
    return result;
}
