/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit/test_flood.c
 *
 * Traffic made to fill memory: what the engine keeps stays within the bounds that its headers name.
 * Measured as the process' peak, each flood in a process of its own.  A sanitized build needs
 * several times as much for itself, and has several times the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

enum {
    CONNECTIONS = 16384, /* the default of options.connections */
    MANY = SANITIZED ? 200000 : 2000000,
    SLACK = SANITIZED ? 6 : 1,
};

static const struct endpoint S = { 0x0a000009, 2049 };
static struct lab lab;
static uint8_t junk[60000];

static struct tcp nth_connection(uint32_t n)
{
    return tcp_join(&lab, (struct endpoint){ 0x0b000000 + n / 50, (uint16_t)(1 + n % 50) }, S);
}

static void put_call_record(struct buf *stream, uint32_t xid)
{
    struct buf b = { 0 };

    put_call(&b, xid, NFS, 3, GETATTR);
    put_text(&b, "file");
    stream->len = 0;
    put_record(stream, &b);
    buf_free(&b);
}

/* Calls that nobody answers, over many more connections than are kept. */
static void calls_without_replies(void)
{
    struct buf stream = { 0 };

    for (uint32_t i = 0; i < MANY; i++) {
        struct tcp t = nth_connection(i % 100000);
        put_call_record(&stream, i);
        t.next[0] += i / 100000 * (uint32_t)stream.len;
        tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    }
    lab_end(&lab);
    if (lab.kinds[RECORD_OPERATION] != MANY)
        abort();
    buf_free(&stream);
}

/* On each connection a message of a MiB begins, and does not end. */
static void messages_without_end(void)
{
    struct buf b = { 0 }, stream = { 0 };

    put_call(&b, 1, NFS, 3, WRITE);
    put_write(&b, "file", 0, junk, 50000);
    put_record(&stream, &b);
    store_be32(stream.data, UINT32_C(0x80100000));
    for (uint32_t i = 0; i < CONNECTIONS * 2; i++) {
        struct tcp t = nth_connection(i % CONNECTIONS);
        if (i >= CONNECTIONS)
            t.next[0] += (uint32_t)stream.len;
        if (i < CONNECTIONS)
            tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
        else
            tcp_send(&t, 0, junk, sizeof(junk));
    }
    buf_free(&b);
    buf_free(&stream);
}

/* Segments behind holes, on all connections at once. */
static void segments_behind_holes(void)
{
    struct buf stream = { 0 };

    for (uint32_t i = 0; i < CONNECTIONS * 4; i++) {
        struct tcp t = nth_connection(i % CONNECTIONS);
        uint32_t round = i / CONNECTIONS;
        put_call_record(&stream, i);
        lab.time -= 999000; /* no hole becomes too old */
        if (round)
            t.next[0] += 5 + round * 20000;
        if (round)
            tcp_send(&t, 0, junk, 19000);
        else
            tcp_send(&t, 0, stream.data, (uint32_t)stream.len);
    }
    buf_free(&stream);
}

/* Marks that may be some, with lengths that never come. */
static void doubtful_marks(void)
{
    struct buf stream = { 0 };

    put_u32(&stream, 0);
    put_u32(&stream, UINT32_C(0x80030000));
    put_reply(&stream, 5, 0);
    put_raw(&stream, junk, 50000);
    for (uint32_t i = 0; i < CONNECTIONS * 3; i++) {
        struct tcp t = nth_connection(i % CONNECTIONS);
        t.next[1] += i / CONNECTIONS * (uint32_t)stream.len;
        tcp_send(&t, 1, i < CONNECTIONS ? stream.data : junk, (uint32_t)stream.len);
    }
    buf_free(&stream);
}

/* Large replies that nobody asked for, and calls with long arguments. */
static void long_messages(void)
{
    struct buf b = { 0 };

    for (uint32_t i = 0; i < MANY / 8; i++) {
        struct endpoint client = { 0x0b000000 + i % 1000, 700 };
        lab.time -= 999000;
        b.len = 0;
        if (i % 8 == 7) {
            put_reply(&b, i, 0);
            put_raw(&b, junk, 50000);
            lab_udp(&lab, S, client, &b);
        } else {
            put_call(&b, i, NFS, 3, LOOKUP);
            put_text(&b, "dir");
            put_opaque(&b, junk, 3000);
            lab_udp(&lab, client, S, &b);
        }
    }
    buf_free(&b);
}

static void peak_of(const char *name, void (*flood)(void), long most_kib)
{
    struct rusage usage;
    int status;
    pid_t child = fork();

    assert_true(child >= 0);
    if (!child) {
        lab_open(&lab, NULL);
        lab.discard = true;
        flood();
        lab_close(&lab);
        _exit(0);
    }
    assert_int_equal(wait4(child, &status, 0, &usage), child);
    assert_int_equal(status, 0);
    print_message("%s: peak %ld KiB\n", name, usage.ru_maxrss);
    assert_in_range(usage.ru_maxrss, 0, most_kib * SLACK);
}

static void the_peak_is_bounded(void **state)
{
    (void)state;
    peak_of("calls without replies", calls_without_replies, 100 << 10);
    peak_of("messages without end", messages_without_end, 130 << 10);
    peak_of("segments behind holes", segments_behind_holes, 260 << 10);
    peak_of("doubtful marks", doubtful_marks, 130 << 10);
    peak_of("long messages", long_messages, 110 << 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
