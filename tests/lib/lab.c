/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab.h"
#include "base/grow.h"

#include <stdio.h>
#include <stdlib.h>

enum { LINKTYPE_ETHERNET = 1, PATH_DEPTH = 300 };

static void *must(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

static void die(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    abort();
}

static void keep(struct lab *lab, struct bytes *b)
{
    uint8_t *copy = must(malloc(b->len + 1));

    if (b->len)
        memcpy(copy, b->data, b->len);
    b->data = copy;
    if (GROW(lab->copies, lab->copy_count, lab->copy_cap) < 0)
        abort();
    lab->copies[lab->copy_count++] = copy;
}

static int put(void *ctx, const struct record *record, struct err *err)
{
    struct lab *lab = ctx;
    struct record r = *record;

    (void)err;
    lab->kinds[r.kind]++;
    if (lab->discard)
        return 0;
    if (r.kind == RECORD_OPERATION) {
        keep(lab, &r.operation.arguments);
        keep(lab, &r.operation.result);
    } else if (r.kind == RECORD_OBJECT) {
        keep(lab, &r.object.handle);
    } else if (r.kind == RECORD_PATH) {
        keep(lab, &r.path.name);
    } else if (r.kind == RECORD_NAME) {
        keep(lab, &r.name.name);
    } else if (r.kind == RECORD_CREDENTIAL) {
        keep(lab, &r.credential.body);
        keep(lab, &r.credential.machine);
        keep(lab, &r.credential.gids);
    } else if (r.kind == RECORD_PROBLEM) {
        keep(lab, &r.problem.text);
    } else if (r.kind == RECORD_COUNTER) {
        keep(lab, &r.counter.name);
    }
    if (GROW(lab->records, lab->count, lab->cap) < 0)
        abort();
    lab->records[lab->count++] = r;
    return 0;
}

void lab_open(struct lab *lab, const struct engine_options *options)
{
    struct sink sink = { put, lab };
    struct err err = { 0 };

    memset(lab, 0, sizeof(*lab));
    lab->time = INT64_C(1700000000) * LAB_SECOND;
    lab->ip_id = 1;
    lab->engine = engine_new(options, &sink, NULL, &err);
    if (!lab->engine)
        die(&err);
}

void lab_end(struct lab *lab)
{
    struct err err = { 0 };

    if (engine_end(lab->engine, false, &err) < 0)
        die(&err);
}

void lab_close(struct lab *lab)
{
    engine_free(lab->engine);
    for (size_t i = 0; i < lab->copy_count; i++)
        free(lab->copies[i]);
    free(lab->copies);
    free(lab->records);
    memset(lab, 0, sizeof(*lab));
}

void lab_frame(struct lab *lab, const uint8_t *data, uint32_t len)
{
    uint32_t captured = lab->cut && lab->cut < len ? lab->cut : len;
    struct frame f = { .number = ++lab->frame,
                       .time = lab->time,
                       .data = data,
                       .cap_len = captured,
                       .wire_len = len,
                       .link_type = LINKTYPE_ETHERNET };
    struct err err = { 0 };

    lab->time += 1000000;
    if (engine_frame(lab->engine, &f, &err) < 0)
        die(&err);
}

void lab_udp(struct lab *lab, struct endpoint from, struct endpoint to, const struct buf *message)
{
    uint32_t len =
        frame_udp(lab->packet, lab->vlan, from, to, message->data, (uint32_t)message->len);
    uint8_t *id = lab->packet + (lab->vlan ? 22 : 18);

    id[0] = (uint8_t)(lab->ip_id >> 8);
    id[1] = (uint8_t)lab->ip_id;
    lab->ip_id += lab->ip_id != 0;
    lab_frame(lab, lab->packet, len);
}

struct tcp tcp_join(struct lab *lab, struct endpoint client, struct endpoint server)
{
    return (struct tcp){ lab, { client, server }, { 1000000, 5000000 } };
}

struct tcp tcp_open(struct lab *lab, struct endpoint client, struct endpoint server)
{
    struct tcp t = tcp_join(lab, client, server);

    t.next[0] += 7919 * (uint32_t)lab->frame; /* each connection has a start of its own */
    t.next[1] += 7919 * (uint32_t)lab->frame;
    lab_frame(lab, lab->packet,
              frame_tcp(lab->packet, lab->vlan, client, server, t.next[0], 0, TCP_SYN, NULL, 0));
    t.next[0]++;
    tcp_segment(&t, 1, t.next[1], TCP_SYN | TCP_ACK, NULL, 0);
    t.next[1]++;
    tcp_segment(&t, 0, t.next[0], TCP_ACK, NULL, 0);
    return t;
}

void tcp_segment(struct tcp *t, int side, uint32_t seq, unsigned flags, const void *data,
                 uint32_t len)
{
    lab_frame(t->lab, t->lab->packet,
              frame_tcp(t->lab->packet, t->lab->vlan, t->end[side], t->end[!side], seq,
                        t->next[!side], flags, data, len));
}

void tcp_send(struct tcp *t, int side, const void *data, uint32_t len)
{
    tcp_segment(t, side, t->next[side], TCP_ACK, data, len);
    t->next[side] += len;
}

void tcp_message(struct tcp *t, int side, const struct buf *message)
{
    struct buf stream = { 0 };

    put_record(&stream, message);
    tcp_send(t, side, stream.data, (uint32_t)stream.len);
    buf_free(&stream);
}

void tcp_lose(struct tcp *t, int side, uint32_t len)
{
    t->next[side] += len;
}

const struct record *lab_nth(const struct lab *lab, enum record_kind kind, uint64_t n)
{
    for (size_t i = 0; i < lab->count; i++)
        if (lab->records[i].kind == kind && n-- == 0)
            return &lab->records[i];
    return NULL;
}

const struct record_operation *lab_operation(const struct lab *lab, uint64_t id)
{
    for (size_t i = 0; i < lab->count; i++)
        if (lab->records[i].kind == RECORD_OPERATION && lab->records[i].operation.id == id)
            return &lab->records[i].operation;
    return NULL;
}

uint64_t lab_problems(const struct lab *lab, enum problem_kind kind)
{
    uint64_t n = 0;

    for (size_t i = 0; i < lab->count; i++)
        n += lab->records[i].kind == RECORD_PROBLEM && lab->records[i].problem.problem == kind;
    return n;
}

uint64_t lab_counter(const struct lab *lab, const char *name)
{
    for (size_t i = 0; i < lab->count; i++) {
        const struct record_counter *c = &lab->records[i].counter;
        if (lab->records[i].kind == RECORD_COUNTER && c->name.len == strlen(name) &&
            !memcmp(c->name.data, name, c->name.len))
            return c->value;
    }
    return 0;
}

uint64_t lab_object(const struct lab *lab, uint32_t ip, const char *text)
{
    for (size_t i = 0; i < lab->count; i++) {
        const struct record_object *o = &lab->records[i].object;
        if (lab->records[i].kind == RECORD_OBJECT && o->handle.len == strlen(text) &&
            !memcmp(o->handle.data, text, o->handle.len) && load_be32(o->server.bytes) == ip)
            return o->id;
    }
    return 0;
}

static const struct record_path *find_path(const struct lab *lab, uint32_t id)
{
    for (size_t i = 0; i < lab->count; i++)
        if (lab->records[i].kind == RECORD_PATH && lab->records[i].path.id == id)
            return &lab->records[i].path;
    return NULL;
}

static void append(char text[1024], struct bytes b)
{
    size_t len = strlen(text), n = b.len < 1023 - len ? b.len : 1023 - len;

    memcpy(text + len, b.data, n);
    text[len + n] = '\0';
}

const char *lab_path(const struct lab *lab, uint32_t id, char text[1024])
{
    const struct record_path *way[PATH_DEPTH];
    unsigned depth = 0;

    text[0] = '\0';
    for (const struct record_path *p = find_path(lab, id); p && depth < PATH_DEPTH;
         p = p->parent ? find_path(lab, p->parent) : NULL)
        way[depth++] = p;
    while (depth) {
        const struct record_path *p = way[--depth];
        if (p->parent)
            append(text, (struct bytes){ (const uint8_t *)"/", 1 });
        if (p->object) {
            append(text, (struct bytes){ (const uint8_t *)"<", 1 });
            for (uint64_t n = 0; n < lab->count; n++)
                if (lab->records[n].kind == RECORD_OBJECT &&
                    lab->records[n].object.id == p->object) {
                    append(text, lab->records[n].object.handle);
                    break;
                }
            append(text, (struct bytes){ (const uint8_t *)">", 1 });
        }
        append(text, p->name);
    }
    return text;
}
