/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_feed.c
 *
 * Any records as a dump that is played: script_open and the feed.  The records get a right header
 * and checksum, so that all checks but the container's are reached (fuzz_rdump has that one).
 *
 * What comes out must hold what feed.h promises; each byte of each step is read while it is held,
 * and again before it is released.  The number of steps is that of the reader's operations before
 * the first one that was refused.
 *
 * Input: a byte of bits (below), how many records there are, the payload of a block.
 */
#include "base/digest.h"
#include "player/feed.h"
#include "rdump/rdump_format.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BIT_PARTIAL = 1, BIT_LARGE_RING = 2, BIT_HOLDS = 4, HORIZON_MAX = 1 << 12 };

static void require(bool condition)
{
    if (!condition)
        abort();
}

static int to_memory(void *ctx, const void *data, size_t len, struct err *err)
{
    (void)err;
    require(buf_append(ctx, data, len) == 0);
    return 0;
}

/* The first byte of |payload| is how many records it has. */
static void wrap(struct buf *stream, const uint8_t *payload, size_t len)
{
    uint8_t head[NFSR_BLOCK_HEADER_LEN], sum[NFSR_CHECKSUM_LEN];
    struct err err;
    struct rdump_writer *w = rdump_writer_new(to_memory, stream, &err);
    size_t at;

    require(w != NULL);
    rdump_writer_free(w);
    at = stream->len;
    store_le32(head, RDUMP_MARKER);
    store_le32(head + 4, NFSR_BLOCK_RECORDS);
    store_le64(head + 8, 1);
    store_le32(head + 16, payload[0]);
    store_le32(head + 20, (uint32_t)len - 1);
    require(buf_append(stream, head, sizeof(head)) == 0);
    require(buf_append(stream, payload + 1, len - 1) == 0);
    store_le64(sum, XXH3_64bits(stream->data + at, stream->len - at));
    require(buf_append(stream, sum, sizeof(sum)) == 0);
}

static uint64_t sum_of(const void *data, size_t len)
{
    return len ? XXH3_64bits(data, len) : 0;
}

static uint64_t sum_of_step(const struct step *step)
{
    const struct step_more *more = step->more;
    uint64_t sum = sum_of(step->arguments.data, step->arguments.len);

    if (!more)
        return sum;
    sum = sum * 31 + sum_of(more->links.data, more->links.len);
    sum = sum * 31 + sum_of(more->results.data, more->results.len);
    sum = sum * 31 + sum_of(more->names.data, more->names.len);
    sum = sum * 31 + sum_of(more->dependencies, more->dependency_count * sizeof(uint32_t));
    sum = sum * 31 + sum_of(more->cookies, more->cookie_count * sizeof(uint32_t));
    return sum * 31 + sum_of(more->forget, more->forget_count * sizeof(uint32_t));
}

static void check(const struct script *s, const struct step *step, uint64_t number)
{
    static const struct step_more none;
    const struct step_more *more = step->more ? step->more : &none;
    uint32_t links = step->mask & RDUMP_EXPECT_ALL_LINKS;

    require(step->procedure || step->unplayable);
    require(step->client <= s->host_count && step->server <= s->host_count);
    require(step->credential <= s->credential_count && step->copy < s->trace.copies);
    require(more->links.len == 4 * (uint32_t)__builtin_popcount(links));
    require(more->cookie_from <= number &&
            (!more->cookie_from || more->cookie_from < s->trace.horizon));
    for (uint32_t i = 0; i < more->dependency_count; i++)
        require(more->dependencies[i] && more->dependencies[i] <= number &&
                more->dependencies[i] < s->trace.horizon);
    if (step->has & STEP_HAS_SECOND)
        require(step->second_at + UINT64_C(8) <= step->arguments.len);
    if (step->has & STEP_SETS_SIZE)
        require(step->second_at + UINT64_C(8) <= step->arguments.len);
    if (step->has & (STEP_CONTINUES | STEP_LISTS) && !step->unplayable)
        require(step->value_at + UINT64_C(16) <= step->arguments.len);
    if (step->has & (STEP_GUARDED | STEP_HAS_DATA))
        require(step->value_at + UINT64_C(8) <= step->arguments.len);
    if (!(step->has & STEP_WITHOUT_OBJECT) && !step->unplayable)
        require(step->arguments.len >= 8);
}

static uint64_t play(struct feed *feed, const struct script *script, uint64_t held, int *result,
                     struct err *err)
{
    struct pollfd wait = { .fd = feed_fd(feed), .events = POLLIN };
    uint64_t taken = 0, released = 0, sums[8] = { 0 };
    const struct step *step;
    int ready;

    for (;;) {
        *result = feed_next(feed, &step, err);
        if (*result == FEED_WAIT && released < taken) {
            require(sum_of_step(feed_step(feed, released)) == sums[released % 8]);
            feed_release(feed);
            released++;
        } else if (*result == FEED_WAIT) {
            while ((ready = poll(&wait, 1, 10000)) < 0 && errno == EINTR)
                ; /* the fuzzer has an alarm */
            require(ready == 1);
        } else if (*result == FEED_STEP) {
            check(script, step, taken);
            sums[taken++ % 8] = sum_of_step(step);
        } else {
            break;
        }
        for (; taken - released >= held; released++) {
            require(sum_of_step(feed_step(feed, released)) == sums[released % 8]);
            feed_release(feed);
        }
    }
    return taken;
}

/* Operations that the reader has, until the records end in any way. */
static uint64_t count(const char *path, bool *ends_well)
{
    struct err err = { 0 };
    FILE *file = fopen(path, "r");
    struct rdump_reader *r = file ? rdump_reader_new(fileno(file), path, &err) : NULL;
    enum rdump_kind kind;
    const void *record;
    uint64_t operations = 0;
    int result = r ? 1 : -1;

    require(r != NULL);
    while (result > 0) {
        result = rdump_next(r, &kind, &record, &err);
        operations += result > 0 && kind == RDUMP_OPERATION;
    }
    *ends_well = result == 0;
    rdump_reader_free(r);
    fclose(file);
    return operations;
}

static void try(const char *path, uint8_t bits)
{
    struct feed_setup setup = { .bytes = bits & BIT_LARGE_RING ? 1 << 16 : 1,
                                .partial = bits & BIT_PARTIAL };
    struct err err = { 0 };
    struct script script;
    struct feed *feed;
    bool ends_well;
    uint64_t taken, all;
    int result;

    if (script_open(&script, path, &err) < 0) {
        require(err.code == ERR_INPUT && err.text[0]);
        return;
    }
    require(script.object_count == 0 ||
            script.objects[script.object_count - 1].number == script.object_count);
    if (script.trace.horizon > HORIZON_MAX) /* memory for the fuzzer */
        script.trace.horizon = HORIZON_MAX;
    setup.script = &script;
    feed = feed_new(&setup, &err);
    require(feed != NULL);
    taken = play(feed, &script, bits & BIT_HOLDS ? 8 : 1, &result, &err);
    all = count(path, &ends_well);
    require(taken <= all && (result == 0 || result == -ERR_INPUT));
    require(result == 0 || (err.text[0] && !(bits & BIT_PARTIAL)));
    require(taken == all || result < 0 || feed_stats(feed).damaged);
    require(ends_well || result < 0 || feed_stats(feed).damaged);
    feed_free(feed);
    script_close(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf dump = { 0 };
    char path[64];
    int fd;

    wire_init();
    if (size < 2 || size > NFSR_BLOCK_TARGET)
        return 0;
    wrap(&dump, data + 1, size - 1);
    fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, dump.data, dump.len) == (ssize_t)dump.len);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    try(path, data[0]);
    close(fd);
    buf_free(&dump);
    return 0;
}
