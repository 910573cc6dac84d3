/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/ingest/folder.c
 *
 * A sorted list of names with what was seen of each file: its inode, size, the time of its first
 * packet, and whether it was read.  Each scan compares the list with the folder.  For follow.c. The
 * contract is in folder.h.
 */
#include "ingest/folder.h"
#include "base/grow.h"
#include "capture/capture.h"
#include "record/nfsr.h"
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum state {
    FILE_NEW,   /* its beginning is not there yet */
    FILE_READY, /* to be read */
    FILE_TAKEN,
    FILE_DONE,
    FILE_OTHER, /* nothing to read */
};

struct entry {
    char *name;
    dev_t device;
    ino_t inode;
    off_t size;         /* when it was looked at; FILE_DONE: what was read of it */
    int64_t changed;    /* the time of its last change, ns */
    int64_t first_time; /* of a packet, or INT64_MAX */
    enum state state;
    bool seen, grown;
};

struct folder {
    const char *path;
    bool is_one; /* a file, not a folder */
    struct entry *entries;
    size_t count, cap;
    char *taken; /* the path of that one */
    char *lost;
    struct folder_losses losses;
};

/* Compares names so that numbers in them count as numbers. */
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t m = strspn(a, "0123456789"), n = strspn(b, "0123456789");

        if (m && n) {
            const char *p = a + strspn(a, "0"), *q = b + strspn(b, "0");
            size_t i = m > (size_t)(p - a) ? m - (size_t)(p - a) : 0;
            size_t j = n > (size_t)(q - b) ? n - (size_t)(q - b) : 0;
            int order = i != j ? (i < j ? -1 : 1) : strncmp(p, q, i);

            if (order)
                return order;
            a += m;
            b += n;
            continue;
        }
        if (*a != *b)
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
    return *a ? 1 : *b ? -1 : 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order;

    if (a->first_time != b->first_time)
        return a->first_time < b->first_time ? -1 : 1;
    order = compare_names(a->name, b->name);
    return order ? order : strcmp(a->name, b->name);
}

struct folder *folder_new(const char *path, struct err *err)
{
    struct folder *folder = calloc(1, sizeof(*folder));
    struct stat st;

    if (!folder) {
        err_memory(err, "a folder");
        return NULL;
    }
    folder->path = path;
    folder->is_one = stat(path, &st) < 0 || !S_ISDIR(st.st_mode);
    return folder;
}

void folder_free(struct folder *folder)
{
    if (!folder)
        return;
    for (size_t i = 0; i < folder->count; i++)
        free(folder->entries[i].name);
    free(folder->entries);
    free(folder->taken);
    free(folder->lost);
    free(folder);
}

static char *path_of(const struct folder *folder, const char *name)
{
    size_t size = strlen(folder->path) + strlen(name) + 2;
    char *path = malloc(size);

    if (path && folder->is_one)
        snprintf(path, size, "%s", folder->path);
    else if (path)
        snprintf(path, size, "%s/%s", folder->path, name);
    return path;
}

/* The first time in a record stream; ends reading by a code of its own. */
static int first_record(void *ctx, const struct record *record, struct err *err)
{
    int64_t *time = ctx;

    if (record->kind == RECORD_FLOW && record->flow.time != TIME_NONE)
        *time = record->flow.time;
    return *time != INT64_MAX || record->kind == RECORD_OPERATION
               ? err_set(err, ERR_USAGE, "enough")
               : 0;
}

static int64_t time_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* What a file is, and when it begins. */
static void look_into(struct entry *e, struct input *input)
{
    struct sink sink = { first_record, &e->first_time };
    struct capture *capture;
    struct frame frame;
    const uint8_t *head;
    size_t len = input_head(input, &head);
    struct err err;

    e->state = FILE_OTHER;
    if (len < INPUT_HEAD_LIVE)
        e->state = FILE_NEW;
    if (nfsr_is_stream(head, len)) {
        e->state = FILE_READY;
        nfsr_read_stream(input_read, input, "", &sink, &err);
    } else if (capture_is(head, len)) {
        e->state = FILE_READY;
        capture = capture_open(input, &err);
        if (capture && capture_next(capture, &frame, &err) == 1 && frame.time != TIME_NONE)
            e->first_time = frame.time;
        capture_close(capture);
    }
}

static void look_at(const struct folder *folder, struct entry *e, const struct stat *st)
{
    char *path = path_of(folder, e->name);
    struct input *input;
    struct err err;

    e->device = st->st_dev;
    e->inode = st->st_ino;
    e->size = st->st_size;
    e->changed = time_of(st);
    e->first_time = INT64_MAX;
    e->grown = false;
    e->state = FILE_READY; /* what cannot be opened is told when it is taken */
    if (!S_ISREG(st->st_mode) && !folder->is_one)
        e->state = FILE_OTHER;
    else if (S_ISREG(st->st_mode) && path && (input = input_open(path, false, &err))) {
        look_into(e, input);
        input_close(input);
        if (folder->is_one)
            e->state = FILE_READY; /* whatever it is: the user named it */
    }
    free(path);
}

static void lose(struct folder *folder, uint64_t *count, const struct entry *e)
{
    ++*count;
    free(folder->lost);
    folder->losses.name = folder->lost = path_of(folder, e->name);
}

/* An entry, and its file as it is now. */
static void look_again(struct folder *folder, struct entry *e, const struct stat *st)
{
    struct entry now = { .name = e->name, .seen = true };
    int64_t changed = time_of(st);

    if (e->state == FILE_TAKEN || (e->size == st->st_size && e->changed == changed))
        return;
    look_at(folder, &now, st);
    if (e->state != FILE_DONE || now.first_time != e->first_time || st->st_size < e->size) {
        *e = now;
        return;
    }
    e->changed = changed;
    if (st->st_size > e->size && !e->grown) {
        lose(folder, &folder->losses.grown, e);
        e->grown = true;
    }
}

/* Files are renamed when they are rotated, so a file is what has one inode. */
static struct entry *find(struct folder *folder, const struct stat *st)
{
    for (size_t i = 0; i < folder->count; i++)
        if (folder->entries[i].inode == st->st_ino && folder->entries[i].device == st->st_dev)
            return &folder->entries[i];
    return NULL;
}

static struct entry *add(struct folder *folder, struct err *err)
{
    if (GROW(folder->entries, folder->count, folder->cap) < 0) {
        err_memory(err, "a folder");
        return NULL;
    }
    folder->entries[folder->count] = (struct entry){ .name = NULL };
    return &folder->entries[folder->count++];
}

static int scan_name(struct folder *folder, const char *name, struct err *err)
{
    char *path = path_of(folder, name), *copy;
    struct entry *e;
    struct stat st;
    int result = path ? stat(path, &st) : 0;
    bool is_new;

    free(path);
    if (!path)
        return err_memory(err, "a folder");
    if (result < 0 || S_ISDIR(st.st_mode))
        return 0; /* gone since, or a link to nothing */
    e = find(folder, &st);
    is_new = !e;
    if (is_new && !(e = add(folder, err)))
        return -err->code;
    if (is_new || strcmp(e->name, name) != 0) {
        copy = strdup(name);
        if (!copy)
            return err_memory(err, "a folder");
        free(e->name);
        e->name = copy;
    }
    e->seen = true;
    if (is_new)
        look_at(folder, e, &st);
    else
        look_again(folder, e, &st);
    return 0;
}

static int scan_names(struct folder *folder, struct err *err)
{
    struct dirent *entry;
    DIR *dir;
    int result = 0;

    if (folder->is_one)
        return scan_name(folder, "", err);
    dir = opendir(folder->path);
    if (!dir)
        return err_set(err, ERR_INPUT, "%s: cannot be read: %s", folder->path, strerror(errno));
    while (result == 0 && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            result = scan_name(folder, entry->d_name, err);
    closedir(dir);
    return result;
}

/* Drops the entries whose files went, except the one that is being read. */
static void drop_gone(struct folder *folder)
{
    size_t kept = 0;

    folder->losses.other = folder->losses.left = 0;
    for (size_t i = 0; i < folder->count; i++) {
        struct entry *e = &folder->entries[i];

        folder->losses.other += e->seen && e->state == FILE_OTHER;
        folder->losses.left += e->seen && e->state == FILE_READY;
        if (e->seen || e->state == FILE_TAKEN) {
            folder->entries[kept++] = *e;
            continue;
        }
        if (e->state == FILE_READY)
            lose(folder, &folder->losses.vanished, e);
        free(e->name);
    }
    folder->count = kept;
}

int folder_scan(struct folder *folder, struct err *err)
{
    for (size_t i = 0; i < folder->count; i++)
        folder->entries[i].seen = false;
    if (scan_names(folder, err) < 0)
        return -err->code;
    drop_gone(folder);
    if (folder->count)
        qsort(folder->entries, folder->count, sizeof(*folder->entries), compare_entries);
    return 0;
}

static struct entry *first_ready(const struct folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        if (folder->entries[i].state == FILE_READY)
            return &folder->entries[i];
    return NULL;
}

bool folder_has_more(const struct folder *folder)
{
    return first_ready(folder) != NULL;
}

const char *folder_take(struct folder *folder, struct err *err)
{
    struct entry *e = first_ready(folder);

    free(folder->taken);
    folder->taken = e ? path_of(folder, e->name) : NULL;
    if (!folder->taken) {
        err_memory(err, "a folder");
        return NULL;
    }
    e->state = FILE_TAKEN;
    return folder->taken;
}

/* One that was taken before its first packet was there: its time tells it from a later one of its
 * name. */
static void learn_time(const struct folder *folder, struct entry *e, uint64_t size)
{
    char *path = path_of(folder, e->name);
    struct entry now = { .name = e->name };
    struct stat st;

    if (e->first_time == INT64_MAX && path && stat(path, &st) == 0 && st.st_ino == e->inode &&
        (uint64_t)st.st_size >= size) {
        look_at(folder, &now, &st);
        e->first_time = now.first_time;
    }
    free(path);
}

void folder_done(struct folder *folder, uint64_t size)
{
    for (size_t i = 0; i < folder->count; i++) {
        struct entry *e = &folder->entries[i];

        if (e->state != FILE_TAKEN)
            continue;
        learn_time(folder, e, size);
        e->state = FILE_DONE;
        e->size = (off_t)size;
        e->changed = -1; /* it may have grown since it was looked at */
    }
}

const struct folder_losses *folder_losses(const struct folder *folder)
{
    return &folder->losses;
}
