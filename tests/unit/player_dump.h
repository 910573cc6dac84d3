/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/player_dump.h
 *
 * Dumps in memory, with a path to open them by, for the tests of live/player.
 */
#ifndef NFSDIGEST_TESTS_PLAYER_DUMP_H
#define NFSDIGEST_TESTS_PLAYER_DUMP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rdump_samples.h"

#include <stdio.h>
#include <stdlib.h>

struct dump {
    struct buf data;
    struct rdump_writer *writer;
    int fd;
    char path[64];
};

static inline int dump_write(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)err;
    assert_int_equal(buf_append(ctx, data, len), 0);
    return 0;
}

static inline void dump_begin(struct dump *d)
{
    struct err err = { 0 };

    *d = (struct dump){ .fd = -1 };
    d->writer = rdump_writer_new(dump_write, &d->data, &err);
    assert_non_null(d->writer);
}

static inline void dump_put(struct dump *d, enum rdump_kind kind, const void *record)
{
    struct err err = { 0 };

    if (rdump_put(d->writer, kind, record, &err) < 0)
        fail_msg("%s", err.text);
}

/* The first |len| bytes of it become a file. */
static inline void dump_cut(struct dump *d, size_t len)
{
    d->fd = sample_file(d->data.data, len);
    assert_true(d->fd >= 0);
    snprintf(d->path, sizeof(d->path), "/proc/self/fd/%d", d->fd);
}

static inline void dump_end(struct dump *d)
{
    static const struct rdump_end end;

    dump_put(d, RDUMP_END, &end);
    dump_cut(d, d->data.len);
}

static inline void dump_free(struct dump *d)
{
    rdump_writer_free(d->writer);
    buf_free(&d->data);
    if (d->fd >= 0)
        close(d->fd);
}

/* Hosts 1 (client) and 2 (server), credential 1, and a root, object 1. */
static inline void dump_begin_small(struct dump *d, uint32_t horizon)
{
    const struct rdump_trace trace = { .time = 1, .horizon = horizon, .fine = 1, .copies = 1 };
    const struct rdump_host client = { 1, sample_text("192.0.2.1") };
    const struct rdump_host server = { 2, sample_text("192.0.2.2") };
    const struct rdump_credential credential = { .number = 7, .flavor = 1, .uid = 5 };
    const struct rdump_object root = {
        .number = 1, .server = 2, .type = 2, .root = sample_text("/export"), .used = 1
    };

    dump_begin(d);
    dump_put(d, RDUMP_TRACE, &trace);
    dump_put(d, RDUMP_HOST, &client);
    dump_put(d, RDUMP_HOST, &server);
    dump_put(d, RDUMP_CREDENTIAL, &credential);
    dump_put(d, RDUMP_OBJECT, &root);
}

#endif
