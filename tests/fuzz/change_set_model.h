/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/change_set_model.h
 *
 * Any bytes are a story: operations on a file, or on a directory, while it is copied in small
 * pieces at any time.  The truth is a plain array of bytes, or of children.  What the copy has
 * then, with the noted changes played on it, must be the truth.  A third kind of story is about
 * operations that are under way at once; the truth is a list of all of them.
 */
#ifndef NFSDIGEST_CHANGE_SET_MODEL_H
#define NFSDIGEST_CHANGE_SET_MODEL_H

#include "mirror/change_set.h"

#include <stdio.h>
#include <stdlib.h>

/* The window of the file that the story is about lies around a multiple of CHANGES_BLOCK. */
enum { WINDOW = 96, WINDOW_AT = CHANGES_BLOCK - WINDOW / 2, NAMES = 8, OPERATIONS = 400 };

#define REQUIRE(CONDITION)                                                                         \
    do {                                                                                           \
        if (!(CONDITION)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #CONDITION);                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

struct story {
    const uint8_t *at, *end;
    uint64_t contents_max;
    bool is_narrow; /* few notes fit */
    struct change_pool *pool;
    struct change_set *set;
    uint64_t clock;
    uint32_t notes; /* since the copy began */
    struct sattr3 attributes;
};

static inline uint32_t pick(struct story *s, uint32_t bound)
{
    return s->at < s->end ? *s->at++ % bound : 0;
}

/* One after the other. */
static inline struct change_time next_time(struct story *s)
{
    s->clock += 10;
    s->notes++;
    return (struct change_time){ s->clock, s->clock + 10 };
}

static inline bool is_full(struct story *s)
{
    struct change_cursor cursor = { 0 };
    struct change change;

    if (change_set_state(s->set) == CHANGES_NOTED)
        return false;
    REQUIRE(change_set_state(s->set) == CHANGES_FULL && s->is_narrow);
    REQUIRE(!change_set_next(s->set, &cursor, &change) && change_set_is_empty(s->set));
    REQUIRE(!change_pool_notes(s->pool) && !change_pool_contents(s->pool));
    return true;
}

static inline void note_some_attributes(struct story *s, bool sizes, uint32_t size)
{
    struct sattr3 a = { 0 }, *all = &s->attributes;
    uint32_t bits = pick(s, 256);

    a.set_size = sizes;
    a.size = WINDOW_AT + (uint64_t)size;
    if (sizes)
        all->set_mtime = DONT_CHANGE;
    if (bits & 1) {
        a.set_mode = all->set_mode = true;
        a.mode = all->mode = s->notes;
    }
    if (bits & 2) {
        a.set_uid = all->set_uid = true;
        a.uid = all->uid = s->notes;
    }
    if (bits & 4) {
        a.set_gid = all->set_gid = true;
        a.gid = all->gid = s->notes;
    }
    if (bits & 8) {
        a.set_atime = all->set_atime = SET_TO_CLIENT_TIME;
        a.atime = all->atime = (struct nfstime3){ s->notes, 1 };
    }
    if (bits & 16) {
        a.set_mtime = all->set_mtime = bits & 32 ? SET_TO_SERVER_TIME : SET_TO_CLIENT_TIME;
        a.mtime = all->mtime = (struct nfstime3){ s->notes, 2 };
    }
    change_note_attributes(s->set, next_time(s), &a);
}

static inline void check_attributes(const struct sattr3 *a, const struct sattr3 *b)
{
    REQUIRE(!a->set_size && a->set_mode == b->set_mode && a->set_uid == b->set_uid);
    REQUIRE(a->set_gid == b->set_gid && a->set_atime == b->set_atime);
    REQUIRE(a->set_mtime == b->set_mtime);
    REQUIRE(!a->set_mode || a->mode == b->mode);
    REQUIRE(!a->set_uid || a->uid == b->uid);
    REQUIRE(!a->set_gid || a->gid == b->gid);
    REQUIRE(!a->set_atime || !memcmp(&a->atime, &b->atime, sizeof(a->atime)));
    REQUIRE(!a->set_mtime || !memcmp(&a->mtime, &b->mtime, sizeof(a->mtime)));
}

static inline bool sets_something(const struct sattr3 *a)
{
    return a->set_mode || a->set_uid || a->set_gid || a->set_atime || a->set_mtime;
}

/* --- a file */

struct file {
    uint8_t bytes[WINDOW]; /* 0 from the size on */
    uint32_t size;
};

struct file_story {
    struct file truth, copy;
    bool copied[WINDOW], unknown[WINDOW]; /* |unknown|: last written with data that nobody knows */
};

static inline void set_size(struct file *file, uint32_t size)
{
    if (size < file->size)
        memset(file->bytes + size, 0, file->size - size);
    file->size = size;
}

static inline void begin_copy(struct story *s, struct file_story *f)
{
    memset(f->copied, 0, sizeof(f->copied));
    memset(f->unknown, 0, sizeof(f->unknown));
    f->copy = (struct file){ .size = f->truth.size };
    s->attributes = (struct sattr3){ 0 };
    s->notes = 0;
}

static inline void copy_byte(struct file_story *f, uint32_t i)
{
    if (!f->copied[i])
        f->copy.bytes[i] = f->truth.bytes[i];
    f->copied[i] = true;
}

static inline void write_some(struct story *s, struct file_story *f)
{
    uint32_t from = pick(s, WINDOW), count = pick(s, 24), value = pick(s, 255) + 1;
    bool unknown = pick(s, 5) == 4;

    if (count > WINDOW - from)
        count = WINDOW - from;
    for (uint32_t i = 0; i < count; i++) {
        f->truth.bytes[from + i] = (uint8_t)(value + i);
        f->unknown[from + i] = unknown;
    }
    if (count && from + count > f->truth.size)
        f->truth.size = from + count;
    if (count)
        s->attributes.set_mtime = DONT_CHANGE;
    change_note_write(s->set, next_time(s), WINDOW_AT + (uint64_t)from, count,
                      unknown ? NULL : f->truth.bytes + from);
}

static inline void play_write(const struct story *s, struct file_story *f,
                              const struct change *change)
{
    uint64_t from = change->offset - WINDOW_AT;

    REQUIRE(change->offset >= WINDOW_AT && change->length && from + change->length <= WINDOW);
    if (from + change->length > f->copy.size)
        f->copy.size = (uint32_t)(from + change->length);
    if (change->kind == CHANGE_WRITE) {
        REQUIRE(change->data.len == change->length);
        memcpy(f->copy.bytes + from, change->data.data, change->length);
    }
    for (uint64_t i = from; i < from + change->length; i++) {
        if (change->kind == CHANGE_READ_AGAIN)
            f->copy.bytes[i] = f->truth.bytes[i];
        if (s->contents_max >= 1000)
            REQUIRE(f->unknown[i] == (change->kind == CHANGE_READ_AGAIN));
    }
}

/* Extents that touch are one, if they can be. */
static inline void check_order(const struct change *before, const struct change *change)
{
    uint64_t end = before->offset + before->length;

    if (before->kind != CHANGE_WRITE && before->kind != CHANGE_READ_AGAIN)
        return;
    REQUIRE(change->offset >= end);
    REQUIRE(change->offset > end || change->kind != before->kind ||
            (change->kind == CHANGE_WRITE && end % CHANGES_BLOCK == 0));
}

static inline void play_file(struct story *s, struct file_story *f)
{
    struct change_cursor cursor = { 0 };
    struct change change, before = { .kind = CHANGE_SIZE };
    bool sets = false, is_first = true;
    uint64_t kept = 0;

    for (uint32_t i = 0; i < WINDOW; i++)
        copy_byte(f, i);
    for (uint32_t i = f->copy.size; i < WINDOW; i++) /* the copy had no such bytes */
        f->copy.bytes[i] = 0;
    while (change_set_next(s->set, &cursor, &change)) {
        REQUIRE(!sets);
        if (change.kind == CHANGE_SIZE) {
            REQUIRE(change.size >= WINDOW_AT && change.size <= WINDOW_AT + WINDOW);
            REQUIRE(is_first || change.size - WINDOW_AT != f->copy.size);
            set_size(&f->copy, (uint32_t)(change.size - WINDOW_AT));
        } else if (change.kind == CHANGE_ATTRIBUTES) {
            check_attributes(&change.attributes, &s->attributes);
            sets = true;
        } else {
            REQUIRE(change.kind == CHANGE_WRITE || change.kind == CHANGE_READ_AGAIN);
            check_order(&before, &change);
            play_write(s, f, &change);
            kept += change.data.len;
        }
        before = change;
        is_first = false;
    }
    REQUIRE(sets == sets_something(&s->attributes));
    REQUIRE(f->copy.size == f->truth.size);
    REQUIRE(!memcmp(f->copy.bytes, f->truth.bytes, WINDOW));
    REQUIRE(kept == change_pool_contents(s->pool) && kept <= s->contents_max);
}

static inline void tell_file(struct story *s)
{
    struct file_story f = { 0 };

    f.truth.size = pick(s, WINDOW + 1);
    memset(f.truth.bytes, 0xee, f.truth.size);
    begin_copy(s, &f);
    while (s->at < s->end) {
        uint32_t what = pick(s, 16), size;

        if (what < 6) {
            write_some(s, &f);
        } else if (what < 8) {
            size = pick(s, WINDOW + 1);
            for (uint32_t i = size; i < WINDOW; i++)
                f.unknown[i] = false;
            set_size(&f.truth, size);
            note_some_attributes(s, true, size);
        } else if (what == 8) {
            note_some_attributes(s, false, 0);
        } else if (what < 13) {
            copy_byte(&f, pick(s, WINDOW));
        } else if (what == 13) {
            f.copy.size = f.truth.size;
        } else if (what == 14 && pick(s, 8) == 7) {
            change_set_restart(s->set);
            REQUIRE(change_set_is_empty(s->set));
            begin_copy(s, &f);
        }
        if (is_full(s)) {
            change_set_restart(s->set);
            begin_copy(s, &f);
        }
    }
    play_file(s, &f);
}

/* --- a directory: children have numbers from 1 on, 0 is none */

struct directory_story {
    uint32_t truth[NAMES], copy[NAMES];
    bool copied[NAMES], removed[NAMES], moved[NAMES];
    uint32_t children;
};

static inline struct bytes story_name(uint32_t n)
{
    static uint8_t longest[CHANGES_NAME_MAX];
    static const char *const names[NAMES] = { "a", "b", "ab", "abc", "\xff", "name", "Name", "" };

    memset(longest, 'x', sizeof(longest));
    return n + 1 < NAMES ? (struct bytes){ (const uint8_t *)names[n], (uint32_t)strlen(names[n]) }
                         : (struct bytes){ longest, sizeof(longest) };
}

static inline struct change_child story_child(uint32_t number, uint8_t room[64])
{
    static const uint8_t text[100] = "the text of a link";

    memset(room, 0x5a, 64);
    store_be32(room, number);
    return (struct change_child){ { room, number % 7 ? 4 + number % 61 : 0 },
                                  (uint8_t)(1 + number % 7),
                                  { text, number % 5 ? 0 : 1 + number % 90 },
                                  { number, number + 1 } };
}

static inline void make_name(struct story *s, struct directory_story *d, struct change_time time,
                             uint32_t name, uint32_t number)
{
    uint8_t room[64];
    struct change_child child = story_child(number, room);

    change_note_made(s->set, time, story_name(name), &child);
    d->truth[name] = number;
}

static inline void remove_name(struct story *s, struct directory_story *d, struct change_time time,
                               uint32_t name, bool is_moved)
{
    change_note_removed(s->set, time, story_name(name), is_moved);
    d->truth[name] = 0;
    if (!d->removed[name])
        d->moved[name] = is_moved;
    d->removed[name] = true;
}

static inline void begin_listing(struct story *s, struct directory_story *d)
{
    for (uint32_t i = 0; i < NAMES; i++)
        d->copied[i] = d->removed[i] = d->moved[i] = false;
    s->attributes = (struct sattr3){ 0 };
    s->notes = 0;
}

static inline void change_names(struct story *s, struct directory_story *d, uint32_t what)
{
    uint32_t a = pick(s, NAMES), b = pick(s, NAMES), child = d->truth[a];
    struct change_time time = next_time(s);

    s->attributes.set_mtime = DONT_CHANGE;
    if (!child) {
        make_name(s, d, time, a, ++d->children);
    } else if (what < 3) {
        remove_name(s, d, time, a, what == 2);
    } else if (what < 6 && a != b) { /* RENAME, also over another one */
        remove_name(s, d, time, a, true);
        make_name(s, d, time, b, child);
    } else if (!d->truth[b]) { /* LINK */
        make_name(s, d, time, b, child);
    } else { /* RENAME from another directory */
        make_name(s, d, time, b, ++d->children);
    }
}

static inline void check_child(const struct change_child *child, uint32_t number)
{
    uint8_t room[64];
    struct change_child is = story_child(number, room);

    REQUIRE(child->type == is.type && child->handle.len == is.handle.len);
    REQUIRE(!is.handle.len || !memcmp(child->handle.data, is.handle.data, is.handle.len));
    REQUIRE(child->link_text.len == is.link_text.len);
    REQUIRE(!is.link_text.len ||
            !memcmp(child->link_text.data, is.link_text.data, is.link_text.len));
    REQUIRE(child->device.specdata1 == number && child->device.specdata2 == number + 1);
}

static inline uint32_t name_number(struct bytes name)
{
    for (uint32_t i = 0; i < NAMES; i++)
        if (story_name(i).len == name.len && !memcmp(story_name(i).data, name.data, name.len))
            return i;
    REQUIRE(!"a name of the story");
    return 0;
}

static inline void play_directory(struct story *s, struct directory_story *d)
{
    struct change_cursor cursor = { 0 };
    struct change change;
    enum change_kind before = CHANGE_SIZE;
    bool played[NAMES] = { false };

    for (uint32_t i = 0; i < NAMES; i++)
        if (!d->copied[i])
            d->copy[i] = d->truth[i];
    while (change_set_next(s->set, &cursor, &change)) {
        REQUIRE(change.kind >= CHANGE_REMOVE && change.kind >= before);
        before = change.kind;
        if (change.kind == CHANGE_ATTRIBUTES) {
            check_attributes(&change.attributes, &s->attributes);
            continue;
        }
        uint32_t name = name_number(change.name);

        d->copy[name] = change.kind == CHANGE_MAKE ? d->truth[name] : 0;
        if (change.kind == CHANGE_MAKE) {
            REQUIRE(d->truth[name]);
            check_child(&change.child, d->truth[name]);
        } else {
            REQUIRE(d->removed[name] && change.is_moved == d->moved[name] && !played[name]);
            played[name] = true;
        }
    }
    REQUIRE((before == CHANGE_ATTRIBUTES) == sets_something(&s->attributes));
    for (uint32_t i = 0; i < NAMES; i++)
        REQUIRE(d->copy[i] == d->truth[i] && played[i] == d->removed[i]);
}

static inline void tell_directory(struct story *s)
{
    struct directory_story d = { 0 };

    while (d.children < NAMES / 2)
        d.truth[d.children] = d.children + 1, d.children++;
    begin_listing(s, &d);
    while (s->at < s->end) {
        uint32_t what = pick(s, 16), name;

        if (what < 9) {
            change_names(s, &d, what);
        } else if (what == 9) {
            note_some_attributes(s, false, 0);
        } else if (what < 14) {
            name = pick(s, NAMES);
            d.copied[name] = true;
            d.copy[name] = d.truth[name];
        } else if (what == 14 && pick(s, 8) == 7) {
            change_set_restart(s->set);
            begin_listing(s, &d);
        }
        if (is_full(s)) {
            change_set_restart(s->set);
            begin_listing(s, &d);
        }
    }
    play_directory(s, &d);
}

/* --- operations at once, on what is one byte each: the window's and what is behind it, names,
 * attributes */

enum { THING_BEHIND = WINDOW, THING_ATTRIBUTES, THINGS = THING_ATTRIBUTES + 5 };

struct operation {
    struct change_time time;
    bool changes[THINGS], sets_mtime, touches_mtime;
};

static inline void operate_on_file(struct story *s, struct operation *o)
{
    uint32_t from = pick(s, WINDOW), count = 1 + pick(s, 16), bits;
    struct sattr3 a = { 0 };

    if (pick(s, 3)) {
        for (uint32_t i = from; i < from + count; i++)
            o->changes[i < WINDOW ? i : THING_BEHIND] = true;
        o->touches_mtime = true;
        change_note_write(s->set, o->time, WINDOW_AT + (uint64_t)from, count, NULL);
        return;
    }
    bits = pick(s, 64);
    a.set_mode = o->changes[THING_ATTRIBUTES] = bits & 1;
    a.set_uid = o->changes[THING_ATTRIBUTES + 1] = bits & 2;
    a.set_gid = o->changes[THING_ATTRIBUTES + 2] = bits & 4;
    a.set_atime = o->changes[THING_ATTRIBUTES + 3] = (bits >> 3) & 1;
    a.set_mtime = o->changes[THING_ATTRIBUTES + 4] = o->sets_mtime = (bits >> 4) & 1;
    a.set_size = bits & 32;
    a.size = WINDOW_AT + (uint64_t)from;
    o->touches_mtime = a.set_size;
    for (uint32_t i = from; a.set_size && i <= THING_BEHIND; i++)
        o->changes[i] = true;
    change_note_attributes(s->set, o->time, &a);
}

static inline void operate_on_name(struct story *s, struct operation *o)
{
    uint32_t name = pick(s, NAMES), what = pick(s, 6);
    uint8_t room[64];
    struct change_child child = story_child(name, room);
    struct sattr3 a = { .set_mtime = SET_TO_SERVER_TIME };

    if (what == 5) {
        o->sets_mtime = true;
        o->changes[THING_ATTRIBUTES + 4] = true;
        change_note_attributes(s->set, o->time, &a);
        return;
    }
    o->touches_mtime = o->changes[name] = true;
    if (what > 2)
        change_note_removed(s->set, o->time, story_name(name), false);
    if (what < 2) {
        change_note_made(s->set, o->time, story_name(name), &child);
    } else if (what == 2) {
        uint32_t other = pick(s, NAMES);

        o->changes[other] = true;
        change_note_removed(s->set, o->time, story_name(name), true);
        change_note_made(s->set, o->time, story_name(other), &child);
    }
}

static inline bool is_ambiguous(const struct operation *a, const struct operation *b)
{
    bool is_common = (a->sets_mtime && b->touches_mtime) || (b->sets_mtime && a->touches_mtime);

    for (uint32_t i = 0; i < THINGS; i++)
        is_common |= a->changes[i] && b->changes[i];
    return is_common && a->time.begin < b->time.end && b->time.begin < a->time.end;
}

/* RENAME within the directory is two changes for the bound on what is known: left out there. */
static inline void tell_conflicts(struct story *s, bool is_directory, uint64_t since)
{
    static struct operation operations[OPERATIONS];

    for (uint32_t i = 0; i < OPERATIONS && s->at < s->end; i++) {
        struct operation *o = &operations[i];
        uint32_t back = pick(s, 8) * 3;
        bool expected;

        *o = (struct operation){ .time.end = (i + 1) * 1000 };
        o->time.begin = (i > back ? i - back : 0) * 1000 + i;
        expected = o->time.begin < since;
        if (is_directory)
            operate_on_name(s, o);
        else
            operate_on_file(s, o);
        for (uint32_t j = 0; j < i; j++)
            expected |= is_ambiguous(&operations[j], o);
        if (!is_directory && i >= CHANGES_RIVALS)
            expected |= o->time.begin < operations[i - CHANGES_RIVALS].time.end;
        if (is_directory && i >= CHANGES_RIVALS / 2 && !expected &&
            change_set_state(s->set) == CHANGES_AMBIGUOUS)
            expected = true; /* how many are known depends on the RENAMEs */
        REQUIRE(change_set_state(s->set) == (expected ? CHANGES_AMBIGUOUS : CHANGES_NOTED));
        REQUIRE(!expected || change_set_is_empty(s->set));
        if (expected)
            change_set_restart(s->set);
    }
}

/* The first byte chooses the kind of the story and the bounds. */
static inline void tell_story(const uint8_t *data, size_t size)
{
    struct story s = { .at = data, .end = data + size };
    uint32_t kind = pick(&s, 256), since = kind & 8 ? 3000 : 0;
    struct err err;

    s.contents_max = kind & 4 ? 20 : 1000000;
    s.is_narrow = (kind & 0x30) == 0x30 && !(kind & 2);
    s.pool = change_pool_open(s.contents_max, s.is_narrow ? 400 : 1000000, &err);
    s.set = s.pool ? change_set_open(s.pool, kind & 1, kind & 2 ? since : 0, &err) : NULL;
    REQUIRE(s.set);
    if (kind & 2)
        tell_conflicts(&s, kind & 1, since);
    else if (kind & 1)
        tell_directory(&s);
    else
        tell_file(&s);
    change_set_close(s.set);
    REQUIRE(!change_pool_contents(s.pool) && !change_pool_notes(s.pool));
    change_pool_close(s.pool);
}

#endif
