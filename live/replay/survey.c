/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "replay/survey.h"
#include "wire/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int note_length(void *ctx, const struct visit *v)
{
    uint32_t *most = ctx;

    if (v->value > *most)
        *most = v->value < UINT32_MAX ? (uint32_t)v->value : UINT32_MAX;
    return 0;
}

static void note(struct survey *s, const struct rdump_operation *o)
{
    const struct procedure *procedure = rdump_procedure(o->procedure);
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

static int read_all(struct survey *s, int fd, const char *path, struct err *err)
{
    struct rdump_reader *reader = rdump_reader_new(fd, path, err);
    enum rdump_kind kind;
    const void *record;
    int more;

    if (!reader)
        return -err->code;
    while ((more = rdump_next(reader, &kind, &record, err)) == 1)
        if (kind == RDUMP_OPERATION)
            note(s, record);
    rdump_reader_free(reader);
    if (more < 0 && err->code != ERR_INPUT)
        return more;
    s->damaged = more < 0;
    snprintf(s->damage, sizeof(s->damage), "%.255s", more < 0 ? err->text : "");
    return 0;
}

int survey_dump(const char *path, struct survey *to, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), result;
    struct stat st;

    *to = (struct survey){ 0 };
    if (fd < 0)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    to->is_pipe = fstat(fd, &st) == 0 && !S_ISREG(st.st_mode);
    result = to->is_pipe ? 0 : read_all(to, fd, path, err);
    close(fd);
    return result;
}
