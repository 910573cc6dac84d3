/* SPDX-License-Identifier: GPL-2.0-or-later */
/* postproc/audit/audit.c
 *
 * The steps of an audit in their order, and what the comments of the anonymized file say of it.
 * The form of that file is checked while gather.c reads the original's metadata in another thread.
 * The first step that fails ends the audit.  For the commands audit and package.  The contract is
 * in audit.h, that of audit_stated in audit_parts.h.
 */
#include "audit/blocks.h"
#include "audit/rules.h"

#include "base/queue.h"

#include <malloc.h>
#include <stdlib.h>

/* --- what the anonymized file says of itself --- */

/* Of a comment that nfsdigest wrote; another one says nothing, and nothing of it is repeated. */
static void read_policy(struct audit *a, const char *text)
{
    const char *at = strstr(text, "policy "), *digest;
    size_t len;

    if (strncmp(text, "anonymized by nfsdigest ", 24) != 0)
        return;
    a->has_provenance = true;
    snprintf(a->provenance, sizeof(a->provenance), "%.*s", (int)strcspn(text, "\n"), text);
    if (!at)
        return;
    at += strlen("policy ");
    digest = strstr(at, "SHA-256 ");
    if (digest)
        snprintf(a->stated_digest, sizeof(a->stated_digest), "%.64s", digest + strlen("SHA-256 "));
    a->stated_digest[strspn(a->stated_digest, "0123456789abcdef")] = '\0';
    len = strcspn(at, ", \n");
    if (len < sizeof(a->stated_policy)) {
        memcpy(a->stated_policy, at, len);
        a->stated_policy[len] = '\0';
    }
    if (a->options->policy)
        return;
    memcpy(a->policy, a->stated_policy, sizeof(a->policy));
    memcpy(a->policy_digest, a->stated_digest, sizeof(a->policy_digest));
}

static void read_totals(struct audit *a, const char *text)
{
    static const char dropped[] = "messages.dropped ";
    const char *at = strstr(text, dropped);

    a->dropped = at ? strtoull(at + sizeof(dropped) - 1, NULL, 10) : 0;
    a->has_dropped = strstr(text, "messages.") != NULL;
}

static int on_option(void *ctx, const struct block *block, unsigned code, const uint8_t *text,
                     uint32_t len, struct err *err)
{
    struct audit *a = ctx;
    char *copy;

    if (code != 1) /* opt_comment */
        return 0;
    copy = calloc(1, len + 1);
    if (!copy)
        return err_memory(err, "a comment");
    memcpy(copy, text, len);
    if (block->kind == BLOCK_SECTION && !a->has_provenance) {
        read_policy(a, copy);
    } else if (block->kind == BLOCK_STATISTICS) {
        read_totals(a, copy);
    }
    free(copy);
    return 0;
}

static int on_stated(void *ctx, const struct block *block, struct err *err)
{
    return block->kind == BLOCK_SECTION || block->kind == BLOCK_STATISTICS
               ? block_options(block, on_option, ctx, err)
               : 0;
}

int audit_stated(struct audit *a, struct err *err)
{
    return blocks_read(a->options->anonymized, on_stated, a, err);
}

static void find_form(struct audit *a, const struct form_fault *fault, int64_t offset,
                      uint64_t frame)
{
    struct finding f = {
        .kind = FOUND_FORM, .what = fault->what, .offset = offset, .frame = frame
    };

    snprintf(f.text, sizeof(f.text), "%s", fault->text);
    audit_find(a, &f);
}

static int on_block(void *ctx, const struct block *block, struct err *err)
{
    struct audit *a = ctx;
    struct form_fault fault;

    audit_progress(a, "reading", block);
    if (!form_block(&a->form, block, &fault))
        find_form(a, &fault, (int64_t)block->offset,
                  block->kind == BLOCK_PACKET ? block->frame : 0);
    return on_stated(ctx, block, err);
}

/* --- all of it --- */

static int on_metadata(void *ctx, void *data, size_t len, struct err *err)
{
    (void)data;
    (void)len;
    return gather_metadata(ctx, err);
}

/* The form of the anonymized file, while the original's metadata are gathered in another thread. */
static int read_blocks(struct audit *a, struct err *err)
{
    struct queue *gatherer = queue_new(on_metadata, a, err);
    struct err late;
    int rc = gatherer ? queue_put(gatherer, NULL, 0, err) : -err->code;

    if (rc == 0) {
        queue_submit(gatherer);
        rc = blocks_read(a->options->anonymized, on_block, a, err);
        if (queue_drain(gatherer, &late) < 0 && rc == 0) {
            *err = late;
            rc = -err->code;
        }
    }
    queue_free(gatherer);
    return rc;
}

static int run(struct audit *a, struct err *err)
{
    const struct audit_options *o = a->options;
    int rc = allow_load(&a->allow, o->allow, err);

    struct form_fault fault;

    a->encoded = encoded_new(err);
    if (!a->encoded)
        return -err->code;
    a->form.connections = calloc(FORM_CONNECTIONS, sizeof(*a->form.connections));
    if (rc == 0 && !a->form.connections)
        rc = err_memory(err, "connections");
    if (rc == 0)
        rc = read_blocks(a, err);
    if (rc == 0 && !form_end(&a->form, a->dropped, &fault))
        find_form(a, &fault, -1, 0);
    if (rc == 0)
        rc = policy_rules_open(a, err);
    if (rc == 0)
        rc = recompute_stated(a, err);
    if (rc == 0)
        rc = align_captures(a, err);
    if (rc == 0)
        rc = compare_finish(a, err);
    if (rc == 0 && o->key)
        rc = recompute_run(a, err);
    if (rc == 0)
        rc = encoded_ready(a, err);
    if (rc < 0)
        return rc;
    a->search = search_new(&a->secrets, err);
    return a->search ? leak_search(a, err) : -err->code;
}

struct audit *audit_run(const struct audit_options *options, struct err *err)
{
    struct audit *a = calloc(1, sizeof(*a));

    /* Else it rises to the largest block that was freed, and tables that outgrew theirs leave holes
     * that nothing fills: a fourth of all memory. */
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    if (!a) {
        err_memory(err, "an audit");
        return NULL;
    }
    a->options = options;
    secrets_init(&a->secrets, options->per_class);
    pairs_init(&a->pairs, options->per_class);
    snprintf(a->policy, sizeof(a->policy), "%s", options->policy ? options->policy : "");
    if (run(a, err) == 0)
        return a;
    audit_free(a);
    return NULL;
}

void audit_free(struct audit *a)
{
    if (!a)
        return;
    search_free(a->search);
    encoded_free(a->encoded);
    secrets_free(&a->secrets);
    pairs_free(&a->pairs);
    pair_side_free(&a->hardware);
    pair_side_free(&a->sizes);
    pair_side_free(&a->in_times);
    pair_side_free(&a->halves);
    allow_free(&a->allow);
    policy_rules_free(a->rules);
    free(a->form.connections);
    free(a);
}

uint64_t audit_findings(const struct audit *a)
{
    return a->finding_total;
}

const char *audit_cut(const struct audit *a)
{
    return a->original.cut ? "original" : a->anonymized.cut ? "anonymized" : NULL;
}

void audit_residual(const struct audit *a,
                    void (*line)(void *ctx, const char *topic, const char *text), void *ctx)
{
    residual_words(a, line, ctx);
}
