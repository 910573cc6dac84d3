/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: room_live_player */
/* Which differences a rule allows: a table of rules beside what they allow. */
#include "verdict_lab.h"

#include "player/comparable.h"

enum { GETATTR = 1, LOOKUP = 3, ACCESS = 4, READLINK = 5, READ = 6, CREATE = 8, READDIR = 16 };

static const struct lab_attributes file = { 1, 0100644, 2, 1000, 100, 4096, 5 },
                                   directory = { 2, 040755, 7, 0, 0, 4096, 6 }, none = { 0 };

/* The rules "default" and |text| behind it, in [fields]. */
static struct rules *rules_of(const char *text)
{
    const struct rules_builtin *builtin = rules_builtins;
    char mine[1024];
    const char *const names[] = { "default", "mine" };
    const char *texts[2];
    struct rules *rules;
    struct err err = { 0 };

    while (strcmp(builtin->name, "default"))
        builtin++;
    snprintf(mine, sizeof(mine), "[rules]\nname = mine\n\n[fields]\n%s\n", text);
    texts[0] = builtin->text;
    texts[1] = mine;
    if (rules_read(names, texts, 2, &rules, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return rules;
}

/* --- differences, each in one value */

static void put_groups(struct lab *l, unsigned whose, struct lab_attributes a)
{
    put_u32(&l->results, a.type);
    put_u32(&l->results, a.mode & 07777);
    put_u32(&l->results, a.uid);
    put_u32(&l->results, a.gid);
    l->step.mask |= 7u << whose * 6;
    if (a.type != 2) {
        put_u32(&l->results, a.nlink);
        put_u64(&l->results, a.size);
        l->step.mask |= 24u << whose * 6;
    }
}

/* LOOKUP of a file in a directory.  The identity stands behind all attributes. */
static void lookup(struct lab *l, struct lab_attributes parent, struct lab_attributes found,
                   uint32_t object)
{
    step_begin(l, LOOKUP, 1);
    put_text(&l->arguments, "name");
    put_groups(l, 1, directory);
    put_groups(l, 3, file);
    put_u32(&l->results, 7);
    l->step.mask |= RDUMP_EXPECT_IDENTITY;
    step_end(l);
    put_u32(&l->reply, 0);
    put_handle(&l->reply, object);
    put_post(&l->reply, found);
    put_post(&l->reply, parent);
}

static void getattr(struct lab *l, struct lab_attributes expected, struct lab_attributes got)
{
    step_begin(l, GETATTR, 7);
    put_groups(l, 0, expected);
    step_end(l);
    put_u32(&l->reply, 0);
    put_fattr3(&l->reply, got);
}

static void access_of(struct lab *l, uint32_t expected, uint32_t got)
{
    step_begin(l, ACCESS, 7);
    put_u32(&l->arguments, 63);
    put_u32(&l->results, expected);
    l->step.mask = RDUMP_EXPECT_ACCESS;
    step_end(l);
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_u32(&l->reply, got);
}

static void readlink_of(struct lab *l, const char *expected, const char *got)
{
    step_begin(l, READLINK, 7);
    put_u32(&l->results, (uint32_t)strlen(expected));
    buf_append(&l->results, expected, strlen(expected));
    l->step.mask = RDUMP_EXPECT_TEXT;
    step_end(l);
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_text(&l->reply, got);
}

/* A READ of 8 bytes at 0, of a file that |wrong| contents stand in. */
static void read_of(struct lab *l, uint32_t count, bool eof, bool wrong)
{
    uint8_t bytes[8] = { 0 };

    step_begin(l, READ, 7);
    put_u64(&l->arguments, 0);
    put_u32(&l->arguments, 8);
    put_u32(&l->results, 8);
    put_u32(&l->results, 0);
    l->step.mask = RDUMP_EXPECT_READ;
    step_end(l);
    for (uint32_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(*fill_at(7, i) ^ (wrong && i == 5));
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_u32(&l->reply, count);
    put_u32(&l->reply, eof);
    put_opaque(&l->reply, bytes, count);
}

static void list(struct lab *l, const char *expected, const char *got)
{
    step_begin(l, READDIR, 7);
    put_u64(&l->arguments, 0);
    put_u64(&l->arguments, 0);
    put_u32(&l->arguments, 4096);
    put_u32(&l->results, 1);
    put_u64(&l->results, XXH3_64bits(expected, strlen(expected)));
    l->step.mask = RDUMP_EXPECT_NAMES;
    l->step.has = STEP_LISTS;
    step_end(l);
    put_u32(&l->reply, 0);
    put_post(&l->reply, none);
    put_u64(&l->reply, 1);
    put_u32(&l->reply, 1);
    put_u64(&l->reply, 5);
    put_text(&l->reply, got);
    put_u64(&l->reply, 3);
    put_u32(&l->reply, 0);
    put_u32(&l->reply, 1);
}

/* A call whose |status| is another one than |expected|. */
static void status_of(struct lab *l, uint8_t procedure, uint32_t expected, uint32_t status)
{
    step_begin(l, procedure, 1);
    put_text(&l->arguments, "name");
    l->step.status = expected;
    step_end(l);
    put_u32(&l->reply, status);
    if (!status) {
        put_handle(&l->reply, 7);
        put_post(&l->reply, file);
    }
    put_post(&l->reply, none);
}

enum what {
    TYPE,
    MODE,
    PARENT_MODE,
    UID,
    GID,
    OWNER,
    NLINK,
    SIZE,
    IDENTITY,
    DIRECTORY_MODE,
    RIGHTS,
    TEXT,
    TEXT_CASE,
    SHORT_READ,
    EOF_,
    CONTENTS,
    NAMES,
    NEW_ERROR,
    OTHER_ERROR,
    VANISHED_ERROR,
    WHATS
};

static void make(struct lab *l, enum what what)
{
    struct lab_attributes found = file, parent = directory;

    found.type = what == TYPE ? 7 : 1;
    found.mode = what == MODE ? 0100600 : file.mode;
    found.uid += what == UID || what == OWNER;
    found.gid += what == GID || what == OWNER;
    found.nlink += what == NLINK;
    found.size += what == SIZE ? 100 : 0;
    parent.mode = what == PARENT_MODE ? 040700 : directory.mode;
    if (what <= IDENTITY)
        lookup(l, parent, found, what == IDENTITY ? 8 : 7);
    parent.mode = 040700;
    if (what == DIRECTORY_MODE)
        getattr(l, directory, parent);
    else if (what == RIGHTS)
        access_of(l, 3, 7);
    else if (what == TEXT || what == TEXT_CASE)
        readlink_of(l, "a/B", what == TEXT ? "b/B" : "A/b");
    else if (what == SHORT_READ || what == EOF_ || what == CONTENTS)
        read_of(l, what == SHORT_READ ? 6 : 8, what == EOF_, what == CONTENTS);
    else if (what == NAMES)
        list(l, "one", "other");
    else if (what >= NEW_ERROR)
        status_of(l, LOOKUP, what == NEW_ERROR ? 0 : 2, what == VANISHED_ERROR ? 0 : 13);
}

static enum verdict_class judged(struct lab *l, enum what what)
{
    make(l, what);
    return lab_judge(l, 0, 0);
}

#define B(what) (1u << (what))
#define ERRORS (B(NEW_ERROR) | B(OTHER_ERROR) | B(VANISHED_ERROR))

static const struct {
    const char *rule;
    uint32_t allows; /* of enum what */
} cases[] = {
    { "*.atime = ignored", 0 },
    { "*.type = ignored", B(TYPE) },
    { "*.mode = ignored", B(MODE) | B(PARENT_MODE) | B(DIRECTORY_MODE) },
    { "*.mode = mask 0733", B(MODE) },
    { "*.mode = mask 040", 0 },
    { "*.mode = mask 07700", B(MODE) | B(PARENT_MODE) | B(DIRECTORY_MODE) },
    { "LOOKUP3res.*.mode = ignored", B(MODE) | B(PARENT_MODE) },
    { "*.dir_attributes.mode = ignored", B(PARENT_MODE) },
    { "LOOKUP3res.resok.obj_attributes.mode = ignored", B(MODE) },
    { "LOOKUP3res.resfail.*.mode = ignored", 0 },
    { "*.mode = ignored if procedure=GETATTR", B(DIRECTORY_MODE) },
    { "*.mode = ignored if type=NF3REG", B(MODE) },
    { "*.mode = ignored if type=NF3DIR", B(PARENT_MODE) | B(DIRECTORY_MODE) },
    { "*.mode = ignored if status=NFS3_OK", B(MODE) | B(PARENT_MODE) | B(DIRECTORY_MODE) },
    { "LOOKUP3res.*.mode = ignored if status=NFS3ERR_NOENT", 0 },
    { "*.mode = ignored if ref=0644, sut=0600", B(MODE) },
    { "*.mode = ignored if ref=0600, sut=0644", 0 },
    { "*.mode = ignored if sut=0700", B(PARENT_MODE) | B(DIRECTORY_MODE) },
    { "*.uid = ignored", B(UID) },
    { "*.gid = ignored", B(GID) },
    { "*.uid = ignored\n*.gid = ignored", B(UID) | B(GID) | B(OWNER) },
    { "*.nlink = at-least", B(NLINK) },
    { "*.nlink = at-most", 0 },
    { "*.size = tolerance 100 if type=NF3REG", B(SIZE) },
    { "*.size = tolerance 99", 0 },
    { "*.size = tolerance 5%", B(SIZE) },
    { "*.used = ignored", 0 },
    { "LOOKUP3res.resok.object = ignored", B(IDENTITY) },
    { "LOOKUP3res.resok.object = pattern value", 0 },
    { "*.access = ignored", B(RIGHTS) },
    { "*.access = at-least", B(RIGHTS) },
    { "*.access = mask 3", B(RIGHTS) },
    { "*.access = mask 7", 0 },
    { "READLINK3res.resok.data = ignored", B(TEXT) | B(TEXT_CASE) },
    { "READLINK3res.resok.data = nocase", B(TEXT_CASE) },
    { "READ3res.resok.eof = ignored", B(EOF_) },
    { "*.eof = ignored if sut=0", 0 },
    { "READ3res.resok.count = at-most", B(SHORT_READ) },
    { "READ3res.resok.count = at-least", 0 },
    { "READ3res.resok.data = ignored", B(CONTENTS) },
    { "*.entries = ignored", B(NAMES) },
    { "READDIRPLUS3res.*.entries = ignored", 0 },
    { "*.entries = set", 0 },
    { "LOOKUP3res.status = ignored", ERRORS },
    { "GETATTR3res.status = ignored", 0 },
    { "*.status = ignored if ref=NFS3_OK", B(NEW_ERROR) },
    { "LOOKUP3res.status = ignored if ref=NFS3ERR_NOENT, sut=NFS3ERR_ACCES", B(OTHER_ERROR) },
    { "LOOKUP3res.status = ignored if ref=NFS3ERR_ACCES, sut=NFS3ERR_NOENT", 0 },
    { "*.status = ignored if ref=NFS3ERR_NOENT, sut=NFS3_OK", B(VANISHED_ERROR) },
    { "*3res.* = ignored", B(WHATS) - 1 },
};

static void lab_with(struct lab *l, const struct rules *rules)
{
    lab_new(l, (struct verdict_setup){ .rules = rules, .fill = true }, 1, true);
    lab_object(l, 7, 1, 100);
    lab_object(l, 8, 1, 100);
}

static void each_rule(void **state)
{
    struct lab l;

    (void)state;
    fill_at(0, 0);
    wire_init();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rules *rules = rules_of(cases[i].rule);

        for (unsigned what = 0; what < WHATS; what++) {
            bool allowed = cases[i].allows & B(what);
            enum verdict_class class;

            lab_with(&l, rules);
            class = judged(&l, (enum what)what);
            if ((class == VERDICT_AS_RECORDED) != allowed)
                fail_msg("\"%s\" %s difference %u: %s, %s", cases[i].rule,
                         allowed ? "does not allow" : "allows", what, verdict_class_name(class),
                         l.v.text);
            assert_true(l.v.text[0]);
            assert_int_equal(l.v.groups != 0, !allowed && !(B(what) & (ERRORS | B(CONTENTS))));
            if (allowed) {
                assert_true(l.v.rule_count >= 1 && l.v.rule_count <= 2);
                assert_true(rules_at(rules, l.v.rules[0])->file == 1);
            }
            assert_int_equal(l.v.without_rules != VERDICT_AS_RECORDED, what >= NEW_ERROR);
            lab_free(&l);
        }
        rules_free(rules);
    }
}

/* Of two differences one is left, and it is the one that is told. */
static void one_is_left(void **state)
{
    struct rules *rules = rules_of("*.mode = ignored\n*.size = ignored");
    struct lab_attributes found = file;
    struct lab l;

    (void)state;
    lab_with(&l, rules);
    found.mode = 0100600;
    found.uid++;
    found.size++;
    lookup(&l, directory, found, 7);
    assert_int_equal(lab_judge(&l, 0, 0), VERDICT_DIFFERENT_RESULT);
    assert_int_equal(l.v.groups, 4u << 18);
    assert_int_equal(l.v.excused, 18u << 18);
    assert_int_equal(l.v.rule_count, 2);
    expect_text(&l, "owner of what was found or made");
    found.uid--;
    lookup(&l, directory, found, 7);
    assert_int_equal(lab_judge(&l, 1, 0), VERDICT_AS_RECORDED);
    expect_text(&l, "mode of what was found or made: 0644 in the trace, 0600 here");
    /* nothing is left of it for the next one */
    lookup(&l, directory, file, 7);
    assert_int_equal(lab_judge(&l, 2, 0), VERDICT_AS_RECORDED);
    assert_int_equal(l.v.rule_count + l.v.excused, 0);
    assert_string_equal(l.v.text, "");
    lab_free(&l);
    rules_free(rules);
}

/* Of something of another type, no rule holds that is for one type. */
static void two_types(void **state)
{
    struct lab_attributes found = file;
    struct lab l;

    (void)state;
    for (int of_type = 0; of_type < 2; of_type++) {
        struct rules *rules =
            rules_of(of_type ? "*.type = ignored\n*.mode = ignored if type=NF3FIFO"
                             : "*.type = ignored\n*.mode = ignored");

        lab_with(&l, rules);
        found.type = 7;
        found.mode = 010600;
        getattr(&l, file, found);
        assert_int_equal(lab_judge(&l, 0, 0),
                         of_type ? VERDICT_DIFFERENT_RESULT : VERDICT_AS_RECORDED);
        lab_free(&l);
        rules_free(rules);
    }
}

static bool is_comparable(const char *rule)
{
    struct rules *rules = rules_of(rule);
    bool comparable[200];
    bool result;

    assert_true(rules->rule_count < 200);
    rules_comparable(rules, comparable);
    result = comparable[rules->rule_count - 1];
    rules_free(rules);
    return result;
}

/* Rules of which a replay asks, and of which it never does. */
static void comparable(void **state)
{
    static const char *const never[] = {
        "*.atime = ignored",
        "*.used = ignored",
        "*.fileid = ignored",
        "*.dir_wcc.before = ignored",
        "*.before.size = ignored",
        "*.obj_attributes = ignored",
        "*.cookieverf = ignored",
        "*.entries.name = ignored",
        "*.name_attributes.mode = ignored",
        "*.size = ignored if type=NF3DIR",
        "READDIR3res.*.eof = ignored",
        "WRITE3res.resok.count = ignored",
        "FSINFO3res.*.mode = ignored",
        "FSINFO3res.resok.rtmax = ignored",
        "mountres3.* = ignored",
    };

    (void)state;
    wire_init();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (cases[i].allows && !is_comparable(cases[i].rule))
            fail_msg("%s", cases[i].rule);
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (is_comparable(never[i]))
            fail_msg("%s", never[i]);
    assert_true(is_comparable("*.rdev* = ignored if type=NF3CHR"));
    assert_true(is_comparable("GETACL3res.*.mode = ignored"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),
        cmocka_unit_test(one_is_left),
        cmocka_unit_test(two_types),
        cmocka_unit_test(comparable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
