/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "package/recapture.h"
#include "anon/policy_parts.h"
#include "link/pcapng_write.h"
#include "package/anonymized.h"
#include "package/archive.h"
#include "package/counters.h"
#include "package/differ.h"

#include <errno.h>
#include <stdlib.h>

enum {
    TAIL_MAX = 64 << 10, /* bytes of the block at the end */
    TAIL_HEAD = 20,      /* its type, length, interface and time */
    TAIL_COMMENT = 24,   /* where its comment begins */
};

/* --- making it --- */

/* Zeros stay zeros, and bits that were taken off stay off; all else is a pseudonym, or as it was.
 */
static uint8_t rule_again(uint8_t rule)
{
    return rule == RULE_ZERO || rule == RULE_OWNER || rule == RULE_UNSET ? rule : RULE_KEEP;
}

int recapture(const char *capture, struct policy *policy, const char *to, struct err *err)
{
    static const struct engine_options defaults;
    static const struct key none; /* nothing depends on it: no rule is a keyed one */
    const struct anonymizing what = { to, &defaults, policy, &none };
    char *paths[] = { (char *)capture };
    int result;

    for (unsigned i = 0; i < CLASS_MAX; i++)
        policy->rules[i] = rule_again(policy->rules[i]);
    for (unsigned i = 0; i < EXTRA_MAX; i++)
        policy->extras[i] = rule_again(policy->extras[i]);
    for (uint32_t i = 0; i < policy->override_count; i++)
        policy->overrides[i].rule = rule_again(policy->overrides[i].rule);
    result = anonymize_captures(&what, 1, paths, err);
    return result > 0 ? err_set(err, ERR_INPUT, MEMBER_CAPTURE ": cannot be read to its end")
                      : result;
}

/* --- comparing --- */

struct tail {
    uint8_t data[TAIL_MAX];
    uint32_t len;
    uint64_t at; /* in the file; 0: there is none */
};

static int read_tail(const char *path, struct tail *tail, struct err *err)
{
    FILE *file = fopen(path, "re");
    uint8_t last[4];
    off_t size;

    tail->at = 0;
    if (!file)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    if (fseeko(file, -4, SEEK_END) == 0 && fread(last, 1, 4, file) == 4) {
        size = ftello(file);
        tail->len = load_le32(last);
        if (tail->len <= TAIL_MAX && tail->len > TAIL_COMMENT && size > (off_t)tail->len &&
            fseeko(file, size - (off_t)tail->len, SEEK_SET) == 0 &&
            fread(tail->data, 1, tail->len, file) == tail->len)
            tail->at = (uint64_t)size - tail->len;
    }
    fclose(file);
    return 0;
}

static int append(void *ctx, const void *data, size_t len, struct err *err)
{
    return buf_append(ctx, data, len) < 0 ? err_memory(err, "a capture") : 0;
}

/* The comment in it, with a zero behind it, when the block is what is written around that one;
 * else NULL. */
static char *tail_comment(const struct tail *tail, struct err *err)
{
    struct pcapng_writer writer = { .write = NULL };
    struct buf block = { 0 };
    const uint8_t *d = tail->data;
    uint32_t len = d[TAIL_COMMENT - 2] | (uint32_t)d[TAIL_COMMENT - 1] << 8;
    uint64_t time = (uint64_t)load_le32(d + 12) << 32 | load_le32(d + 16);
    char *comment = len <= tail->len - TAIL_COMMENT ? calloc(1, len + 1) : NULL;

    if (!comment)
        return NULL;
    memcpy(comment, d + TAIL_COMMENT, len);
    writer.write = append;
    writer.ctx = &block;
    if (pcapng_end(&writer, (int64_t)time, comment, err) < 0 || block.len != tail->len ||
        memcmp(block.data, d, tail->len) != 0) {
        free(comment);
        comment = NULL;
    }
    pcapng_free(&writer);
    buf_free(&block);
    return comment;
}

/* The blocks at the ends: the same but for their counters. */
static bool same_tail(const struct tail *tail, const struct tail *again, struct err *err)
{
    char *comment = tail_comment(tail, err), *other = tail_comment(again, err);
    bool same = comment && other && memcmp(tail->data + 8, again->data + 8, TAIL_HEAD - 8) == 0 &&
                counters_agree(comment, other);

    free(comment);
    free(other);
    return same;
}

int recapture_compare(const char *capture, const char *again, const char *name,
                      struct package_check *check, struct err *err)
{
    struct tail *tails = calloc(2, sizeof(*tails));
    struct err ignored;
    int64_t at = -1;
    int result = tails ? 0 : err_memory(err, "a capture");

    if (result == 0)
        result = read_tail(capture, &tails[0], err);
    if (result == 0)
        result = read_tail(again, &tails[1], err);
    if (result == 0)
        result = differ_at(capture, again, tails[1].at, &at, err);
    if (result == 0 && at >= 0)
        package_finding(check, "%s: byte %lld is not what anonymizing writes for these messages",
                        name, (long long)at);
    else if (result == 0 &&
             (tails[0].at != tails[1].at || !same_tail(&tails[0], &tails[1], &ignored)))
        package_finding(check, "%s: its last block does not hold what anonymizing counts", name);
    free(tails);
    return result;
}
