/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/fuzz/fuzz_verdict.c
 *
 * Any bytes as replies of a target, and any values that they are to show.  Held to: no read beyond
 * either; every reply ends in a class that its status allows; differences have words; a listing
 * continues only where it may.
 *
 * Input: rdump's number of the procedure, bits (below), status expected and mask (4 bytes each; the
 * highest bit of the mask: there are rules), arguments, results, links, names, and replies to the
 * end (2 bytes of length each).
 */
#include "fill/fill.h"
#include "player/places.h"
#include "player/verdict.h"
#include "rdump/rdump.h"

#include <stdlib.h>

enum {
    BIT_RESULTS = 1,
    BIT_COPIES = 2,
    BIT_LINKS = 4,
    BIT_COOKIES = 8,
    BIT_MADE = 16,
    BIT_LOOKED_UP = 32,
    BIT_LEARN = 64,
    BIT_IGNORE = 128,
    NUMBER = 50,
};

static struct places places;
static struct rules *rules; /* they allow some differences of each kind */
static const char some_rules[] = "[fields]\n"
                                 "*.mode = ignored if type=NF3DIR\n"
                                 "*.mode = mask 0700 if type=NF3REG\n"
                                 "*.uid = ignored\n"
                                 "*.nlink = at-least\n"
                                 "*.size = tolerance 5%\n"
                                 "*.handle = ignored\n"
                                 "*.access = at-most\n"
                                 "READLINK3res.resok.data = nocase\n"
                                 "READ3res.resok.* = ignored\n"
                                 "READDIR3res.*.entries = ignored\n"
                                 "*.status = ignored if ref=NFS3_OK\n";

static void require(bool condition)
{
    if (!condition)
        abort();
}

/* Files 1 to 9, whose handles are 8 bytes with their number. */
static struct objects *some_objects(void)
{
    struct err err;
    struct objects *objects = objects_open(&err);
    uint8_t handle[8];

    require(objects != NULL);
    for (uint32_t n = 1; n < 10; n++) {
        struct object *object = objects_add(objects, n, &err);

        memset(handle, (int)n, sizeof(handle));
        require(object && !objects_set_handle(objects, 1, object,
                                              (struct bytes){ handle, sizeof(handle) }, &err));
        object->type = 1;
        object->size = 100;
    }
    return objects;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static const char *const names[] = { "default", "some" };
    const struct rules_builtin *builtin = rules_builtins;
    const char *texts[] = { NULL, some_rules };
    struct err err;

    (void)argc;
    (void)argv;
    while (strcmp(builtin->name, "default"))
        builtin++;
    texts[0] = builtin->text;
    wire_init();
    places_init(&places);
    fill_at(0, 0);
    require(!rules_read(names, texts, 2, &rules, &err));
    return 0;
}

struct input {
    const uint8_t *data;
    size_t left;
    uint8_t *copies[64]; /* pieces, each exactly as long as it is */
    uint32_t count;
};

/* The next piece, in memory of its own: reads beyond it are found. */
static struct bytes piece(struct input *in)
{
    uint32_t len = in->left < 2 ? 0 : load_be16(in->data);
    uint8_t *copy;

    in->data += in->left < 2 ? in->left : 2;
    in->left -= in->left < 2 ? in->left : 2;
    if (len > in->left)
        len = (uint32_t)in->left;
    copy = malloc(len ? len : 1);
    require(copy != NULL);
    if (len)
        memcpy(copy, in->data, len);
    in->data += len;
    in->left -= len;
    in->copies[in->count++] = copy;
    return (struct bytes){ copy, len };
}

static void check(const struct step *step, const struct verdict *v)
{
    bool differs = v->class == VERDICT_DIFFERENT_RESULT;

    require(memchr(v->text, '\0', sizeof(v->text)) != NULL);
    require(v->class <= VERDICT_DIFFERENT_RESULT || v->class == VERDICT_UNANSWERED);
    require(v->class != VERDICT_AS_RECORDED || v->status == step->status || v->rule_count);
    require(v->class != VERDICT_NEW_ERROR || (!step->status && v->status));
    require(v->class != VERDICT_VANISHED_ERROR || (step->status && !v->status));
    require((v->class == VERDICT_AS_RECORDED && !v->rule_count) == !v->text[0]);
    require(!(v->excused & ~step->mask) && !(v->excused & v->groups));
    require(v->rule_count <= VERDICT_RULES && (v->rule_count || !v->excused));
    require(v->without_rules == v->class || v->class == VERDICT_DIFFERENT_RESULT ||
            v->class == VERDICT_UNANSWERED || !v->without_rules || v->rule_count);
    require(!(v->groups & ~step->mask) && (!v->groups || differs));
    require(!v->contents || differs);
    require(v->next != NEXT_LIST_ON || step->has & STEP_LISTS);
    require(v->next != NEXT_AGAIN || v->wait > 0);
    require(v->next != NEXT_LOOKUP || !v->status);
}

static void judge(struct verdicts *verdicts, const struct step *step, struct bytes reply,
                  uint8_t bits, uint32_t again)
{
    struct rpc_header header = { .status = RPC_SUCCESS };
    struct rpc_answer answer = { .header = &header, .body = reply };
    struct verdict v;
    struct err err;

    require(!verdict_reply(verdicts, NUMBER, step, &answer, again, &v, &err));
    check(step, &v);
    if (v.next == NEXT_LOOKUP && bits & BIT_LOOKED_UP) {
        require(!verdict_looked_up(verdicts, NUMBER, step, &answer, &v, &err));
        require(v.next == NEXT_NOTHING);
    }
}

static void play(struct verdicts *verdicts, struct step *step, struct input *in, uint8_t bits)
{
    struct rpc_header header = { .status = RPC_SUCCESS };
    struct rpc_answer answer = { .header = &header };
    struct step_more next_more = { .cookie_from = 3, .cookie_entries = bits };
    struct step next = { .has = STEP_CONTINUES | STEP_LISTS, .more = &next_more };
    struct fill_in with;
    struct err err;

    verdict_cookie(verdicts, NUMBER, step, &with);
    for (uint32_t again = 0; in->left && in->count < 60; again++)
        judge(verdicts, step, piece(in), bits, again);
    if (bits & BIT_LEARN) {
        answer.body = piece(in);
        require(!verdict_learn(verdicts, step, step_object(step), &answer, &err));
    }
    verdict_cookie(verdicts, NUMBER + 3, &next, &with);
    if (!(bits & BIT_LINKS))
        verdict_release(verdicts, NUMBER, step);
}

static void run(const uint8_t *data, struct input *in)
{
    static const uint32_t cookies[] = { 1, 2, 7 }, forget[] = { 3, 90 };
    struct script script = { .trace = { .horizon = 8 } };
    struct verdict_setup setup = { .script = &script, .fill = true, .late_stale = true };
    struct step_more more = { .forget = forget, .forget_count = 2 };
    struct step step = { .number = data[0], .server = 1, .more = &more };
    struct verdicts *verdicts;
    uint8_t bits = data[1];
    struct err err;

    step.status = load_be32(data + 2);
    step.mask = load_be32(data + 6) & 0x7fffffff;
    step.digest = step.mask;
    step.made = bits & BIT_MADE ? 80 : 0;
    step.arguments = piece(in);
    if (places_find(&places, &step, &err) < 0)
        return;
    more.results = piece(in);
    more.links = piece(in);
    more.names = piece(in);
    more.cookies = cookies;
    more.cookie_count = bits & BIT_COOKIES ? 3 : 0;
    script.trace.results = bits & BIT_RESULTS ? 1 : 0;
    script.trace.copies = bits & BIT_COPIES ? 3 : 1;
    setup.links = bits & BIT_LINKS;
    setup.rules = data[6] & 0x80 ? rules : NULL;
    setup.ignore = bits & BIT_IGNORE ? 0x14000012 : 0;
    setup.objects = some_objects();
    verdicts = verdicts_new(&setup, &err);
    require(verdicts != NULL);
    play(verdicts, &step, in, bits);
    verdicts_free(verdicts);
    objects_close(setup.objects);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { .data = data + 10, .left = size - 10 };

    if (size < 10 || size > 1 << 17)
        return 0;
    run(data, &in);
    for (uint32_t i = 0; i < in.count; i++)
        free(in.copies[i]);
    return 0;
}
