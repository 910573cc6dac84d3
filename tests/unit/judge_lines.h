/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/judge_lines.h
 *
 * Pairs of operations as lines of text, and the NFSv3 messages that they stand for.  For
 * judge_lab.h.
 *
 *     PROCEDURE OBJECT[.NAME] [KEY=VALUE[/VALUE]]...
 *
 * Two values are the reference's and the other server's.  OBJECT is a row: 1 is a directory, all
 * others are files; its handle and file number on both servers are made of the row.
 *
 * The reply:
 *     status=N rpc=N              statuses of NFS and RPC
 *     size mode nlink uid type fsid fileid atime mtime ctime
 *                                 attributes; times in seconds, or as S+NS
 *     attributes=0                no attributes
 *     bsize bmtime bctime         wcc_attr
 *     new=ROW handle=N            what it found or made, and its handle
 *     done=N eof=1 data=WORD      of READ and WRITE
 *     list=a,b more=c eof=0       listings; |more|: a further reply
 *     esize emode ... efileid     attributes of entries
 *     acl=75                      of GETACL: entries of users, with these rights
 *     silent=sut                  no reply of this side, or of "both"
 *     cut=1 cut=2                 not captured as a whole; its contents were not
 *     surplus=1                   four bytes follow the end
 * The request:
 *     to=ROW.NAME                 of RENAME and LINK
 *     offset=N count=N cookie=N
 *     set=size,mode,mtime,atime   what it sets, to setsize=, setmode=, setmtime=, setatime=;
 *                                 "now": atime to the server's time
 *     asks=N                      bytes that a listing may have
 *     how=2 verf=N                CREATE EXCLUSIVE
 * The pair:
 *     only=ref                    the other side does not have it
 *     overlap=LETTERS             o object, p second directory, n new object, d data, r rights,
 *                                 e name; A, D, E: conflicts
 *     changes=KEY:N,...           pair->change, by number
 *     takes=SECONDS late=SECONDS  until the reply; by which the other server got it later
 *     made=1                      what it found or made is new (after "live")
 *     keep=1 logged=1             what the judge leaves open is kept, like in a log; this is from
 *                                 a log, with what was kept last
 * What the host says:
 *     changed=NAME removed=ROW why=REASON fails=1
 */
#ifndef JUDGE_LINES_H
#define JUDGE_LINES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "judge/judge_fields.h"
#include "wire/rpc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS = 40, OPS_MAX = 96, SECOND = 1000000000, START = 2000 };

struct lab_line {
    const char *line, *says;
    const char *text; /* or NULL: of the last difference's values, "REF, SUT" */
};

struct op {
    struct effect effect;
    uint8_t arguments[256], result[4096];
    uint32_t len[2], contents[2]; /* kept and not kept, of arguments and result */
    char data[16];
};

static struct {
    struct judge *judge;
    struct rules *rules;
    struct places_set places;
    struct clock_map clock;
    struct steps steps[SIDES];
    struct judge_side side[SIDES];
    struct judge_pair pair;
    struct op ops[SIDES][OPS_MAX], parts[SIDES];
    int op_count;
    bool is_live;
    const char *line;                                                /* of the step */
    char out[4096], text[2 * COMPARE_TEXT_MAX + 8], losses[256][64]; /* |text|: of both values */
    int loss_count;
    uint64_t withheld; /* because of losses */
    struct err err;
} lab;

/* --- a line */

/* The value of |key| for |side|, or NULL; lives until eight more. */
static inline const char *word(const char *key, int side)
{
    static char values[8][128];
    static int turn;
    char *value = values[++turn % 8], pattern[40];
    const char *at;
    size_t len;

    snprintf(pattern, sizeof(pattern), " %s=", key);
    at = strstr(lab.line, pattern);
    if (!at)
        return NULL;
    at += strlen(pattern);
    len = strcspn(at, " ");
    if (side == SUT && memchr(at, '/', len)) {
        const char *second = (const char *)memchr(at, '/', len) + 1;

        len -= (size_t)(second - at);
        at = second;
    }
    len = side == REF && memchr(at, '/', len) ? (size_t)((const char *)memchr(at, '/', len) - at)
                                              : len;
    snprintf(value, 128, "%.*s", (int)len, at);
    return value;
}

static inline uint64_t number(const char *key, int side, uint64_t otherwise)
{
    const char *value = word(key, side);

    return value ? strtoull(value, NULL, 0) : otherwise;
}

static inline bool has(const char *list, char letter)
{
    return list && strchr(list, letter);
}

/* --- bodies */

static inline void put32(uint8_t *body, uint32_t *len, uint32_t value)
{
    store_be32(body + *len, value);
    *len += 4;
}

static inline void put64(uint8_t *body, uint32_t *len, uint64_t value)
{
    put32(body, len, (uint32_t)(value >> 32));
    put32(body, len, (uint32_t)value);
}

static inline void put_bytes(uint8_t *body, uint32_t *len, const void *data, uint32_t count)
{
    put32(body, len, count);
    memset(body + *len, 0, (count + 3u) / 4 * 4);
    memcpy(body + *len, data, count);
    *len += (count + 3) / 4 * 4;
}

static inline void put_handle(uint8_t *body, uint32_t *len, int side, uint64_t row)
{
    char handle[16];

    snprintf(handle, sizeof(handle), "%c%07llu", side == REF ? 'r' : 's', (unsigned long long)row);
    put_bytes(body, len, handle, 8);
}

static inline void put_time(uint8_t *body, uint32_t *len, const char *key, int side)
{
    const char *value = word(key, side);
    double seconds = value ? strtod(value, NULL) : 1000;

    put32(body, len, (uint32_t)seconds);
    put32(body, len,
          value && strchr(value, '+') ? (uint32_t)strtoul(strchr(value, '+') + 1, NULL, 10)
                                      : (uint32_t)((seconds - (uint32_t)seconds) * SECOND + 0.5));
}

/* |prefix| of its keys. */
static inline void put_fattr3(uint8_t *body, uint32_t *len, int side, uint64_t row,
                              const char *prefix)
{
    static const char *const keys[] = { "type", "mode", "nlink", "uid", "gid" };
    const uint64_t usual[] = { row == 1 ? 2 : 1, 0644, 1, 0, 0 };
    char key[32];

    for (int i = 0; i < 5; i++) {
        snprintf(key, sizeof(key), "%s%s", prefix, keys[i]);
        put32(body, len, (uint32_t)number(key, side, usual[i]));
    }
    snprintf(key, sizeof(key), "%ssize", prefix);
    put64(body, len, number(key, side, 100));
    put64(body, len, 0); /* used */
    put64(body, len, 0); /* rdev */
    put64(body, len, number("fsid", side, 7));
    snprintf(key, sizeof(key), "%sfileid", prefix);
    put64(body, len, number(key, side, row));
    put_time(body, len, "atime", side);
    put_time(body, len, "mtime", side);
    put_time(body, len, "ctime", side);
}

static inline void put_post(uint8_t *body, uint32_t *len, int side, uint64_t row)
{
    bool there = number("attributes", side, 1);

    put32(body, len, there);
    if (there)
        put_fattr3(body, len, side, row, "");
}

static inline void put_wcc(uint8_t *body, uint32_t *len, int side, uint64_t row)
{
    bool there = word("bsize", side) || word("bmtime", side) || word("bctime", side);

    put32(body, len, there);
    if (there) {
        put64(body, len, number("bsize", side, 100));
        put_time(body, len, "bmtime", side);
        put_time(body, len, "bctime", side);
    }
    put_post(body, len, side, row);
}

static inline bool asks(const char *what)
{
    const char *list = word("set", REF);

    return list && strstr(list, what);
}

static inline void put_sattr3(uint8_t *body, uint32_t *len, int side)
{
    put32(body, len, asks("mode"));
    if (asks("mode"))
        put32(body, len, (uint32_t)number("setmode", side, 0644));
    put32(body, len, 0);
    put32(body, len, 0);
    put32(body, len, asks("size"));
    if (asks("size"))
        put64(body, len, number("setsize", side, 0));
    put32(body, len, asks("now") ? 1 : asks("atime") ? 2 : 0);
    if (asks("atime"))
        put_time(body, len, "setatime", side);
    put32(body, len, asks("mtime") ? 2 : 0);
    if (asks("mtime"))
        put_time(body, len, "setmtime", side);
}

/* --- operations */

static const char *const procedures[] = {
    "NULL",   "GETATTR", "SETATTR", "LOOKUP",      "ACCESS", "READLINK", "READ",
    "WRITE",  "CREATE",  "MKDIR",   "SYMLINK",     "MKNOD",  "REMOVE",   "RMDIR",
    "RENAME", "LINK",    "READDIR", "READDIRPLUS", "GETACL", /* of NFSACL */
};

enum { GETACL = 18 };

struct subject {
    uint32_t row;
    char name[32];
};

static inline struct subject subject_of(const char *text)
{
    struct subject s = { 0 };

    if (text && sscanf(text, "%u.%31s", &s.row, s.name) < 1)
        fail_msg("no object in \"%s\"", lab.line);
    return s;
}

static inline void put_arguments(struct op *op, int side, uint32_t procedure, struct subject s)
{
    uint8_t *b = op->arguments;
    uint32_t *n = &op->len[0];
    struct subject to = subject_of(word("to", side));

    put_handle(b, n, side, s.row);
    if (*s.name)
        put_bytes(b, n, s.name, (uint32_t)strlen(s.name));
    if (procedure == 2) {
        put_sattr3(b, n, side);
        put32(b, n, 0); /* guard */
    } else if (procedure == 6 || procedure == 7) {
        put64(b, n, number("offset", side, 0));
        put32(b, n, (uint32_t)number("count", side, 10));
        if (procedure == 7) {
            put32(b, n, 2);
            put32(b, n, (uint32_t)number("count", side, 10));
            op->contents[0] = ((uint32_t)number("count", side, 10) + 3) / 4 * 4;
        }
    } else if (procedure == 8 && number("how", side, 0) == 2) {
        put32(b, n, 2);
        put64(b, n, number("verf", side, 1));
    } else if (procedure == 8) {
        put32(b, n, 0);
        put_sattr3(b, n, side);
    } else if (procedure == 9) {
        put_sattr3(b, n, side);
    } else if (procedure == 14 || procedure == 15) {
        put_handle(b, n, side, to.row);
        put_bytes(b, n, to.name, (uint32_t)strlen(to.name));
    } else if (procedure == GETACL) {
        put32(b, n, 1); /* mask */
    } else if (procedure >= 16) {
        put64(b, n, number("cookie", side, 0));
        put64(b, n, 0);
        put32(b, n, (uint32_t)number("asks", side, 1000));
        if (procedure == 17)
            put32(b, n, (uint32_t)number("asks", side, 1000));
    }
}

/* Entries of a listing: "a,b"; each name stands for the object of its first letter, a is 11. */
static inline void put_entries(uint8_t *b, uint32_t *n, int side, bool plus, const char *list)
{
    uint64_t cookie = 1;

    while (list && *list) {
        uint32_t len = (uint32_t)strcspn(list, ","), row = 11 + (uint32_t)(*list - 'a');

        put32(b, n, 1);
        put64(b, n, number("efileid", side, row));
        put_bytes(b, n, list, len);
        put64(b, n, cookie++);
        if (plus) {
            put32(b, n, 1);
            put_fattr3(b, n, side, row, "e");
            put32(b, n, 1);
            put_handle(b, n, side, row);
        }
        list += len + (list[len] == ',');
    }
    put32(b, n, 0);
}

static inline void put_listing(struct op *op, int side, uint32_t procedure, const char *key)
{
    uint8_t *b = op->result;
    uint32_t *n = &op->len[1];

    put64(b, n, number("cookieverf", side, 5));
    put_entries(b, n, side, procedure == 17, word(key, side));
    put32(b, n, (uint32_t)number("eof", side, 1));
}

static inline void put_acl(uint8_t *b, uint32_t *n, const char *rights)
{
    uint32_t count = rights ? (uint32_t)strlen(rights) : 0;

    put32(b, n, 1); /* mask */
    put32(b, n, count);
    put32(b, n, count);
    for (uint32_t i = 0; i < count; i++) {
        put32(b, n, 2); /* a user */
        put32(b, n, i);
        put32(b, n, (uint32_t)(rights[i] - '0'));
    }
    put32(b, n, 0);
    put32(b, n, 0);
}

/* |key|: of the list of names. */
static inline void put_result(struct op *op, int side, uint32_t procedure, struct subject s,
                              const char *key)
{
    uint8_t *b = op->result;
    uint32_t *n = &op->len[1], status = (uint32_t)number("status", side, 0);
    uint64_t new_row = number("new", side, 0);

    put32(b, n, status);
    if (procedure == 1 && status == 0) {
        put_fattr3(b, n, side, s.row, "");
    } else if (procedure == 2 || procedure == 12 || procedure == 13) {
        put_wcc(b, n, side, s.row);
    } else if (procedure == 3) {
        if (status == 0) {
            put_handle(b, n, side, number("handle", side, new_row));
            put_post(b, n, side, new_row);
        }
        put32(b, n, 0);
    } else if (procedure == 4) {
        put_post(b, n, side, s.row);
        if (status == 0)
            put32(b, n, (uint32_t)number("access", side, 31));
    } else if (procedure == 6) {
        put_post(b, n, side, s.row);
        if (status == 0) {
            put32(b, n, (uint32_t)number("done", side, 10));
            put32(b, n, (uint32_t)number("eof", side, 0));
            put32(b, n, (uint32_t)number("done", side, 10));
            op->contents[1] = ((uint32_t)number("done", side, 10) + 3) / 4 * 4;
        }
    } else if (procedure == 7) {
        put_wcc(b, n, side, s.row);
        if (status == 0) {
            put32(b, n, (uint32_t)number("done", side, 10));
            put32(b, n, 2);
            put64(b, n, number("verf", side, 9));
        }
    } else if (procedure == 8 || procedure == 9) {
        if (status == 0) {
            put32(b, n, 1);
            put_handle(b, n, side, number("handle", side, new_row));
            put_post(b, n, side, new_row);
        }
        put_wcc(b, n, side, s.row);
    } else if (procedure == 14) {
        put_wcc(b, n, side, s.row);
        put_wcc(b, n, side, subject_of(word("to", side)).row);
    } else if (procedure == 15) {
        put_post(b, n, side, s.row);
        put_wcc(b, n, side, subject_of(word("to", side)).row);
    } else if (procedure == GETACL) {
        put_post(b, n, side, s.row);
        if (status == 0)
            put_acl(b, n, word("acl", side));
    } else if (procedure >= 16) {
        put_post(b, n, side, s.row);
        if (status == 0)
            put_listing(op, side, procedure, key);
    }
}

/* ns; step N is called at START + 10 N. */
static inline int64_t lab_called(int side)
{
    const char *late = word("late", side);

    return (int64_t)(START + lab.op_count * 10) * SECOND +
           (side == SUT && late ? (int64_t)(strtod(late, NULL) * SECOND) : 0);
}

static inline int64_t lab_takes(int side)
{
    const char *takes = word("takes", side);

    return takes ? (int64_t)(strtod(takes, NULL) * SECOND) : SECOND / 1000;
}

static inline void make_op(struct judge_half *half, struct op *op, int side, const char *key)
{
    char procedure[16], target[64];
    uint32_t number_of = 0;
    struct subject s;
    struct effect *e = &op->effect;
    const char *silent = word("silent", REF);
    int64_t call = lab_called(side);

    assert_int_equal(sscanf(lab.line, "%15s %63s", procedure, target), 2);
    while (number_of <= GETACL && strcmp(procedures[number_of], procedure) != 0)
        number_of++;
    assert_true(number_of <= GETACL);
    s = subject_of(target);
    *op = (struct op){ 0 };
    snprintf(op->data, sizeof(op->data), "%s", word("data", side) ? word("data", side) : "same");
    put_arguments(op, side, number_of, s);
    put_result(op, side, number_of, s, key);
    if (number("surplus", side, 0))
        put32(op->result, &op->len[1], 0);
    half->answered = !silent || strcmp(silent, side == REF ? "ref" : "sut") != 0;
    half->answered = half->answered && (!silent || strcmp(silent, "both") != 0);
    *e = (struct effect){ .id = lab.op_count,
                          .program = number_of == GETACL ? 100227 : 100003,
                          .version = 3,
                          .procedure = number_of == GETACL ? procedure_find(100227, 3, 1)
                                                           : procedure_find(100003, 3, number_of),
                          .pairing = half->answered ? PAIRED : REPLY_LOST,
                          .rpc_status =
                              half->answered ? (int64_t)number("rpc", side, 0) : STATUS_NONE,
                          .status =
                              half->answered ? (int64_t)number("status", side, 0) : STATUS_NONE,
                          .call_time = call,
                          .done_time = call + lab_takes(side),
                          .object = s.row,
                          .parent2 = subject_of(word("to", side)).row,
                          .new_object = (uint32_t)number("new", side, 0),
                          .arguments_length = op->len[0] + op->contents[0],
                          .result_length = op->len[1] + op->contents[1],
                          .arguments_body = { op->arguments, op->len[0] },
                          .result_body = { op->result, half->answered ? op->len[1] : 0 } };
    if (number("cut", side, 0))
        e->reply_flags |= SIGHTING_PARTIAL;
    if (number("cut", side, 0) == 1)
        e->result_body.len -= 4;
    effect_decode(e);
    half->effect = *e;
    half->row.object = e->object;
    half->row.parent2 = e->parent2;
    half->row.new_object = e->new_object;
    half->call_time = call;
    half->reply_time = half->answered ? e->done_time : INT64_MIN;
    half->data_digest = (struct bytes){ (const uint8_t *)op->data, (uint32_t)strlen(op->data) };
}

#endif
