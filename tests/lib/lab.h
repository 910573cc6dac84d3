/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/lib/lab.h
 *
 * An engine that is fed with frames made here, and a copy of every record that it puts.  All frames
 * are a millisecond apart unless the test sets lab->time.  Failures to feed abort: the engine
 * must take any frame.
 */
#ifndef NFSDIGEST_TESTS_LAB_H
#define NFSDIGEST_TESTS_LAB_H

#include "engine.h"
#include "frames.h"

#define LAB_SECOND INT64_C(1000000000)

struct lab {
    struct engine *engine;
    struct record *records; /* byte strings copied */
    size_t count, cap;
    void **copies;
    size_t copy_count, copy_cap;
    uint64_t frame;
    int64_t time;
    uint16_t vlan;
    uint16_t ip_id; /* of the next datagram, which counts it up; 0: none has one */
    uint32_t cut;   /* frames are captured up to so many bytes; 0: whole */
    bool discard;   /* records are counted only */
    uint64_t kinds[RECORD_KIND_MAX];
    uint8_t packet[FRAME_MAX];
};

void lab_open(struct lab *lab, const struct engine_options *options);
void lab_end(struct lab *lab);   /* the capture ends: the last records come */
void lab_close(struct lab *lab); /* frees all */

void lab_frame(struct lab *lab, const uint8_t *data, uint32_t len);
void lab_udp(struct lab *lab, struct endpoint from, struct endpoint to, const struct buf *message);

/* A connection; side 0 is the client. */
struct tcp {
    struct lab *lab;
    struct endpoint end[2];
    uint32_t next[2]; /* sequence numbers */
};

/* With the three frames of its begin, or joined later. */
struct tcp tcp_open(struct lab *lab, struct endpoint client, struct endpoint server);
struct tcp tcp_join(struct lab *lab, struct endpoint client, struct endpoint server);
void tcp_segment(struct tcp *t, int side, uint32_t seq, unsigned flags, const void *data,
                 uint32_t len);
void tcp_send(struct tcp *t, int side, const void *data, uint32_t len);
/* As one record in one segment. */
void tcp_message(struct tcp *t, int side, const struct buf *message);
/* Sent, but not captured. */
void tcp_lose(struct tcp *t, int side, uint32_t len);

/* What was put, or NULL: by id; the |n|th of its kind, from 0. */
const struct record_operation *lab_operation(const struct lab *lab, uint64_t id);
const struct record *lab_nth(const struct lab *lab, enum record_kind kind, uint64_t n);
/* Problems of a kind. */
uint64_t lab_problems(const struct lab *lab, enum problem_kind kind);
/* Value of a counter, 0 if it was not put. */
uint64_t lab_counter(const struct lab *lab, const char *name);
/* The id of the object with the handle |text| on the server |ip|; 0: none. */
uint64_t lab_object(const struct lab *lab, uint32_t ip, const char *text);

/* The text of a path; "<HANDLE>" stands for an object whose own path is not known. */
const char *lab_path(const struct lab *lab, uint32_t id, char text[1024]);

#endif
