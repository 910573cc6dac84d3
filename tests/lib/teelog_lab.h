/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/teelog_lab.h
 *
 * Messages of a reference and of a SUT, made by hand, for the tests of live/teelog.
 */
#ifndef NFSDIGEST_TESTS_TEELOG_LAB_H
#define NFSDIGEST_TESTS_TEELOG_LAB_H

#include "engine.h"
#include "nfsr_samples.h"
#include "record/nfsr_check.h"
#include "teelog/teelog.h"
#include "align/overlap.h"
#include "wire/nfs3_numbers.h"
#include "wire/rpc_put.h"

#ifdef TEELOG_LAB_ALONE /* in a program that is no test */
#include <stdio.h>
#define assert_int_equal(a, b) ((a) == (b) ? (void)0 : abort())
#define assert_non_null(a) ((a) ? (void)0 : abort())
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), abort())
#else
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#endif

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GETATTR = 1, LOOKUP = 3, READ = 6, WRITE = 7, CREATE = 8, READDIR = 16 };
enum { FILE_ID = 7, DIR_ID = 3 };
#define START INT64_C(1700000000000000000)

struct world {
    char dir[512];
    struct loop *loop;
    struct teelog *log;
    struct engine *engine; /* of the reference's messages */
    struct record_operation *operation;
    uint64_t number;
    int64_t now;
    uint32_t xid;
    bool by_cookies;      /* the log puts listings together */
    uint8_t strange;      /* the id of an object that is not the same any more, or 0 */
    struct tee_pair next; /* what the next pair says besides its messages */
    struct tee_verdict verdict;
    int64_t sut_later; /* ns that the SUT gets the next requests later than usual */
};

struct attributes_given {
    uint32_t type, mode;
    uint64_t size, fileid;
    int64_t mtime, ctime;
};

static inline int take(void *ctx, const struct record *record, struct err *err)
{
    struct world *w = ctx;

    if (record->kind == RECORD_OPERATION) {
        free(w->operation);
        w->operation = tee_operation_keep(&record->operation);
    }
    return teelog_reference_record(w->log, record, err);
}

static inline uint32_t object_of(void *ctx, int side, struct bytes handle)
{
    const struct world *w = ctx;

    return handle.len == 4 && handle.data[0] == (side == REF ? 'r' : 's') &&
                   handle.data[3] != w->strange
               ? handle.data[3]
               : 0;
}

static inline int path_of(void *ctx, uint32_t object, struct buf *to)
{
    char text[16];
    int len = snprintf(text, sizeof(text), "/object%u", object);

    (void)ctx;
    return buf_append(to, text, (size_t)len);
}

static inline void begin_in(struct world *w, const char *dir, const struct teelog_options *options)
{
    const struct teelog_host host = { object_of, path_of, w };
    const struct sink sink = { take, w };
    struct err err = { 0 };

    *w = (struct world){ .now = START };
    snprintf(w->dir, sizeof(w->dir), "%s", dir);
    w->loop = loop_new(&err);
    w->log = teelog_open(w->loop, w->dir, options, &host, &err);
    if (!w->log)
        fail_msg("%s", err.text);
    w->engine = engine_new(NULL, &sink, NULL, &err);
    assert_non_null(w->engine);
    w->next.known[0] = w->next.known[1] = w->next.known[2] = true;
}

static inline void begin(struct world *w, const struct teelog_options *options)
{
    static int number;
    char dir[64];

    snprintf(dir, sizeof(dir), "teelog-%d-%d", (int)getpid(), number++);
    begin_in(w, dir, options);
}

static const char *const files[] = { "reference.nfsr", "sut.nfsr", "summary.json" };

static inline struct buf contents(const struct world *w, int which)
{
    struct buf to = { 0 };
    uint8_t piece[4096];
    char path[640];
    size_t len;
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", w->dir, files[which]);
    file = fopen(path, "rb");
    assert_non_null(file);
    while ((len = fread(piece, 1, sizeof(piece), file)))
        assert_int_equal(buf_append(&to, piece, len), 0);
    fclose(file);
    return to;
}

static inline void remove_all(struct world *w)
{
    char path[640];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", w->dir, files[i]);
        unlink(path);
    }
    rmdir(w->dir);
    engine_free(w->engine);
    loop_free(w->loop);
    free(w->operation);
}

/* Ends the log, and checks both streams with the program's own checker. */
static inline void end(struct world *w, struct nfsr_summary seen[SIDES])
{
    struct err err = { 0 };

    assert_int_equal(teelog_end(w->log, &err), 0);
    for (int side = 0; side < SIDES; side++) {
        struct buf stream = contents(w, side);
        struct memory_source source = { stream.data, stream.len, 0, 0 };

        if (nfsr_check(memory_read, &source, files[side], &seen[side], &err) != 0)
            fail_msg("%s", err.text);
        if (seen[side].findings)
            fail_msg("%s: %.*s", files[side], (int)seen[side].text.len, seen[side].text.data);
        nfsr_summary_free(&seen[side]);
        buf_free(&stream);
    }
    remove_all(w);
}

/* --- messages */

static inline void put_handle(struct xdr_put *p, int side, uint8_t id)
{
    const uint8_t handle[4] = { side == REF ? 'r' : 's', 0, 0, id };

    xdr_put_opaque(p, (struct bytes){ handle, sizeof(handle) });
}

static inline void put_time(struct xdr_put *p, int64_t time)
{
    xdr_put_u32(p, (uint32_t)(time / 1000000000));
    xdr_put_u32(p, (uint32_t)(time % 1000000000));
}

static inline void put_attributes(struct xdr_put *p, int side, const struct attributes_given *a)
{
    xdr_put_u32(p, a->type);
    xdr_put_u32(p, a->mode);
    xdr_put_u32(p, 1);
    xdr_put_u32(p, 0);
    xdr_put_u32(p, 0);
    xdr_put_u64(p, a->size);
    xdr_put_u64(p, 4096);
    xdr_put_u64(p, 0);
    xdr_put_u64(p, side == REF ? 11 : 12);
    xdr_put_u64(p, a->fileid + (side == SUT ? 1000 : 0));
    put_time(p, START - 5000000000);
    put_time(p, a->mtime);
    put_time(p, a->ctime);
}

struct message {
    struct buf bytes;
    struct xdr_put put;
};

static inline void message_begin(struct message *m, const struct world *w, uint32_t procedure,
                                 bool reply)
{
    struct rpc_header h = { .direction = reply ? RPC_REPLY : RPC_CALL,
                            .xid = w->xid,
                            .rpc_version = 2,
                            .program = NFS3_PROGRAM,
                            .version = NFS3_VERSION,
                            .procedure = procedure,
                            .status = RPC_SUCCESS };

    *m = (struct message){ { 0 } };
    m->put = xdr_put_to(&m->bytes, 1 << 21);
    rpc_put_header(&m->put, &h);
}

static inline struct bytes message_end(struct message *m)
{
    assert_int_equal(xdr_put_end(&m->put, "a message", NULL), 0);
    return (struct bytes){ m->bytes.data, (uint32_t)m->bytes.len };
}

static inline void to_engine(struct world *w, bool reply, struct bytes message)
{
    struct whole_message m = { .transport = IPPROTO_TCP,
                               .number = ++w->number,
                               .time = w->now,
                               .source = { 4, { 10, 0, 0, reply ? 2 : 1 } },
                               .destination = { 4, { 10, 0, 0, reply ? 1 : 2 } },
                               .source_port = reply ? 2049 : 700,
                               .destination_port = reply ? 700 : 2049,
                               .data = message.data,
                               .len = message.len };
    struct err err = { 0 };

    assert_int_equal(engine_message(w->engine, &m, &err), 0);
}

/* A request with both answers; |reply[SUT]| may stay empty. */
struct exchange {
    struct message call[SIDES], reply[SIDES];
    bool silent;
};

static inline void exchange_begin(struct exchange *x, struct world *w, uint32_t procedure)
{
    w->xid++;
    x->silent = false;
    for (int side = 0; side < SIDES; side++) {
        message_begin(&x->call[side], w, procedure, false);
        message_begin(&x->reply[side], w, procedure, true);
    }
}

static inline enum tee_what exchange_end(struct exchange *x, struct world *w)
{
    struct net_address own = { 0 }, server = { 0 };
    struct err err = { 0 };

    own.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(800) };
    server.v4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(2049) };
    server.v4.sin_addr.s_addr = htonl(0x7f000002);
    to_engine(w, false, message_end(&x->call[REF]));
    w->now += 1000000;
    to_engine(w, true, message_end(&x->reply[REF]));
    w->next.reference = w->operation;
    w->next.sut = (struct tee_sut){ .own = &own,
                                    .server = &server,
                                    .call = message_end(&x->call[SUT]),
                                    .called = w->now + w->sut_later + 1000000,
                                    .arrived = w->now + w->sut_later + 2000000 };
    if (!x->silent)
        w->next.sut.reply = message_end(&x->reply[SUT]);
    if (teelog_pair(w->log, &w->next, &w->verdict, &err) < 0)
        fail_msg("%s", err.text);
    w->now += 10000000;
    for (int side = 0; side < SIDES; side++) {
        buf_free(&x->call[side].bytes);
        buf_free(&x->reply[side].bytes);
    }
    w->next.contents = (struct bytes){ 0 };
    return w->verdict.what;
}

static const struct attributes_given plain = {
    1, 0644, 100, 5, START - 9000000000, START - 8000000000
};

static inline enum tee_what getattr(struct world *w, const struct attributes_given *ref,
                                    const struct attributes_given *sut)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = FILE_ID;
    exchange_begin(&x, w, GETATTR);
    for (int side = 0; side < SIDES; side++) {
        const struct attributes_given *a = side == REF ? ref : sut;

        put_handle(&x.call[side].put, side, FILE_ID);
        xdr_put_u32(&x.reply[side].put, a ? 0 : NFS3ERR_STALE);
        if (a)
            put_attributes(&x.reply[side].put, side, a);
    }
    return exchange_end(&x, w);
}

static inline enum tee_what read_file(struct world *w, const char *ref, const char *sut)
{
    struct exchange x;

    w->next.object[TEE_OBJECT] = FILE_ID;
    exchange_begin(&x, w, READ);
    for (int side = 0; side < SIDES; side++) {
        const char *text = side == REF ? ref : sut;

        put_handle(&x.call[side].put, side, FILE_ID);
        xdr_put_u64(&x.call[side].put, 0);
        xdr_put_u32(&x.call[side].put, 100);
        xdr_put_u32(&x.reply[side].put, 0);
        xdr_put_u32(&x.reply[side].put, 1);
        put_attributes(&x.reply[side].put, side, &plain);
        xdr_put_u32(&x.reply[side].put, (uint32_t)strlen(text));
        xdr_put_u32(&x.reply[side].put, 1);
        xdr_put_opaque(&x.reply[side].put,
                       (struct bytes){ (const uint8_t *)text, (uint32_t)strlen(text) });
    }
    w->next.contents = (struct bytes){ (const uint8_t *)ref, (uint32_t)strlen(ref) };
    return exchange_end(&x, w);
}

/* A part of a listing of |DIR_ID|: names, and whether it is the end. */
static inline enum tee_what list(struct world *w, uint64_t cookie, const char *const names[SIDES],
                                 const bool eof[SIDES], bool ends)
{
    static const struct attributes_given directory = {
        2, 0755, 4096, 2, START - 9000000000, START - 8000000000
    };
    struct exchange x;
    enum tee_what what;

    w->next.object[TEE_OBJECT] = DIR_ID;
    w->next.listing = w->by_cookies ? 0 : 1;
    w->next.listing_ends = ends;
    exchange_begin(&x, w, READDIR);
    for (int side = 0; side < SIDES; side++) {
        struct xdr_put *p = &x.reply[side].put;

        put_handle(&x.call[side].put, side, DIR_ID);
        xdr_put_u64(&x.call[side].put, cookie);
        xdr_put_u64(&x.call[side].put, cookie ? 9 : 0);
        xdr_put_u32(&x.call[side].put, 4096);
        xdr_put_u32(p, 0);
        xdr_put_u32(p, 1);
        put_attributes(p, side, &directory);
        xdr_put_u64(p, 9);
        for (uint32_t i = 0; names[side][i]; i++) {
            xdr_put_u32(p, 1);
            xdr_put_u64(p, (uint8_t)names[side][i] + (side == SUT ? 1000u : 0u));
            xdr_put_opaque(p, (struct bytes){ (const uint8_t *)&names[side][i], 1 });
            xdr_put_u64(p, cookie + i + 1);
        }
        xdr_put_u32(p, 0);
        xdr_put_u32(p, eof[side]);
    }
    what = exchange_end(&x, w);
    w->next.listing = 0;
    return what;
}

#endif
