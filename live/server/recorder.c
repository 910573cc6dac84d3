/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "server/recorder.h"
#include "base/output.h"
#include "engine.h"
#include "record/nfsr.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct recorder {
    struct output *file;
    struct nfsr_writer *writer;
    struct engine *engine;
    uint64_t number;
    struct err err; /* the first one */
};

static void dispose(struct recorder *r)
{
    engine_free(r->engine);
    nfsr_writer_free(r->writer);
    output_close(r->file);
    free(r);
}

struct recorder *recorder_new(const char *path, struct err *err)
{
    struct recorder *r = calloc(1, sizeof(*r));
    struct sink sink;

    if (!r) {
        err_memory(err, "a recorder");
        return NULL;
    }
    r->file = output_open(path, err);
    r->writer = r->file ? nfsr_writer_new(output_write, r->file, err) : NULL;
    if (r->writer) {
        sink = nfsr_writer_sink(r->writer);
        r->engine = engine_new(NULL, &sink, NULL, err);
    }
    if (!r->engine) {
        dispose(r);
        return NULL;
    }
    return r;
}

static void take_address(const struct net_address *from, struct address *to, uint16_t *port)
{
    *port = net_address_port(from);
    if (from->family == AF_INET) {
        to->version = 4;
        memcpy(to->bytes, &from->v4.sin_addr, 4);
    } else {
        to->version = 6;
        memcpy(to->bytes, &from->v6.sin6_addr, 16);
    }
}

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void recorder_put(struct recorder *r, const struct recorded *recorded)
{
    struct whole_message m = { .transport = recorded->datagram ? IPPROTO_UDP : IPPROTO_TCP,
                               .number = ++r->number,
                               .time = now(),
                               .data = recorded->message.data,
                               .len = recorded->message.len };

    if (r->err.code)
        return;
    take_address(recorded->from, &m.source, &m.source_port);
    take_address(recorded->to, &m.destination, &m.destination_port);
    engine_message(r->engine, &m, &r->err);
}

int recorder_end(struct recorder *r, struct err *err)
{
    int result = 0;

    if (!r)
        return 0;
    if (!r->err.code)
        engine_end(r->engine, false, &r->err);
    if (!r->err.code)
        output_commit(r->file, &r->err);
    if (r->err.code)
        result = err_set(err, r->err.code, "%s", r->err.text);
    dispose(r);
    return result;
}
