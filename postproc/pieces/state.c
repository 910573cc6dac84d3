/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pieces/state.h"
#include "base/digest.h"
#include "base/output.h"
#include "capture/input.h"
#include "record/nfsr.h"

#include <stdio.h>
#include <stdlib.h>

const char *state_path(char path[], const char *name, const char *suffix)
{
    snprintf(path, STATE_PATH_MAX, "%s%s", name, suffix);
    return path;
}

bool state_needs(const struct record *r)
{
    return r->kind == RECORD_OBJECT || r->kind == RECORD_PATH || r->kind == RECORD_NAME ||
           r->kind == RECORD_FLOW || r->kind == RECORD_CREDENTIAL;
}

uint64_t state_options(const struct engine_options *o)
{
    const uint64_t values[] = { o->stream_window,
                                o->total_window,
                                o->connections,
                                o->pending,
                                (uint64_t)o->retransmit_span,
                                (uint64_t)o->reorder_span,
                                o->block_digests };
    uint64_t digest = XXH3_64bits(values, sizeof(values));

    digest = XXH3_64bits_withSeed(o->ports, o->port_count * sizeof(*o->ports), digest);
    return o->same ? XXH3_64bits_withSeed(o->same->list, o->same->count * sizeof(*o->same->list),
                                          digest)
                   : digest;
}

int state_save(const struct engine *engine, const char *path, uint64_t *digest, struct err *err)
{
    struct output *output = output_open(path, err);
    struct buf state = { 0 };
    int rc = output ? engine_save(engine, &state, err) : -err->code;

    if (rc == 0) {
        *digest = XXH3_64bits(state.data, state.len);
        rc = output_write(output, state.data, state.len, err);
    }
    if (rc == 0)
        rc = output_commit(output, err);
    output_close(output);
    buf_free(&state);
    return rc;
}

struct learning {
    struct engine *engine;
    const struct sink *sink;
};

static int learn(void *ctx, const struct record *r, struct err *err)
{
    struct learning *l = ctx;

    if (!state_needs(r))
        return 0;
    return engine_learn(l->engine, r, err) < 0 ? -err->code : l->sink->put(l->sink->ctx, r, err);
}

static int learn_from(struct engine *engine, const struct sink *to, const char *name,
                      struct err *err)
{
    struct learning learning = { engine, to };
    const struct sink sink = { learn, &learning };
    char path[STATE_PATH_MAX];
    struct input *input = input_open(state_path(path, name, ".nfsr"), false, err);
    int rc = input ? nfsr_read_stream(input_read, input, path, &sink, err) : -err->code;

    input_close(input);
    return rc == NFSR_NOT_MINE ? err_set(err, ERR_INPUT, "%s: not a record stream", path) : rc;
}

int state_continue(const char *name, struct border *border, uint64_t *from, struct err *err)
{
    const char *slash = strrchr(name, '/');
    struct border previous;
    char path[STATE_PATH_MAX];
    int rc = border_read(state_path(path, name, ".border"), &previous, err);

    if (rc < 0)
        return rc;
    if (previous.options != border->options)
        rc = err_set(err, ERR_USAGE, "%s: was made with other options", name);
    if (!strcmp(previous.capture, border->capture) && previous.till == border->asked &&
        !previous.ends)
        *from = previous.to; /* it knows where the next packet begins */
    border->depth = previous.depth;
    border->lead = previous.lead + previous.frames;
    border->origin = previous.identity;
    border->whole = previous.whole || previous.first;
    border->state = previous.state;
    if (!strcmp(previous.capture, border->capture)) {
        border->faces.end = previous.faces.end;
        previous.faces.end = (struct faces){ 0 };
    }
    snprintf(border->previous, sizeof(border->previous), "%s", slash ? slash + 1 : name);
    border_free(&previous);
    return rc;
}

int state_restore(struct engine *engine, const struct sink *sink, const char *name, uint64_t digest,
                  struct err *err)
{
    char path[STATE_PATH_MAX];
    uint8_t *data = NULL;
    FILE *file;
    long len = 0;
    int rc = learn_from(engine, sink, name, err);

    if (rc < 0)
        return rc;
    file = fopen(state_path(path, name, ".state"), "re");
    if (file && fseek(file, 0, SEEK_END) == 0 && (len = ftell(file)) > 0 &&
        fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)len);
    if (!data || fread(data, 1, (size_t)len, file) != (size_t)len)
        rc = err_set(err, ERR_INPUT, "%s: cannot be read", path);
    else if (XXH3_64bits(data, (size_t)len) != digest)
        rc = err_set(err, ERR_INPUT, "%s: does not belong to %s.border: make the piece again", path,
                     name);
    else if (engine_restore(engine, data, (size_t)len, err) < 0)
        rc = err_prefix(err, "%s", path);
    if (file)
        fclose(file);
    free(data);
    return rc;
}
