/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/audit_parts.h"

static const struct {
    const char *name, *words;
} kinds[FOUND_KINDS] = {
    [FOUND_LEAK] = { "leak", "is in the anonymized file" },
    [FOUND_SAME_FIELD] = { "same_field", "is in a field of the kind that held it in the original" },
    [FOUND_IDENTITY] = { "identity", "was not changed" },
    [FOUND_FUNCTION] = { "function", "has two different pseudonyms" },
    [FOUND_COLLISION] = { "collision", "has the pseudonym of another value" },
    [FOUND_VALUE] = { "value", "must stay, but was changed" },
    [FOUND_TIME] = { "time", "was not shifted like the others" },
    [FOUND_LENGTH] = { "length", "has the length of its original" },
    [FOUND_STRUCTURE] = { "structure", "has another form than the original" },
    [FOUND_PADDING] = { "padding", "has bytes between values that are not zero" },
    [FOUND_CONTENTS] = { "contents", "still has file contents" },
    [FOUND_MISSING] = { "missing", "is missing, and the file does not count it as dropped" },
    [FOUND_SURPLUS] = { "surplus", "does not come from the original" },
    [FOUND_UNKEYED] = { "unkeyed", "can be calculated from its original without a key" },
    [FOUND_POLICY] = { "policy", "is not what the policy says" },
    [FOUND_FORM] = { "form", "is not as the anonymizer writes it" },
    [FOUND_RECOMPUTED] = { "recomputed", "is not what the anonymizer makes with the key" },
    [FOUND_UNCHECKED] = { "unchecked", "was too much to check" },
};

const char *finding_kind_name(unsigned kind)
{
    return kinds[kind].name;
}

const char *finding_kind_words(unsigned kind)
{
    return kinds[kind].words;
}

void audit_find(struct audit *a, const struct finding *finding)
{
    uint32_t i = 0;

    a->finding_total++;
    while (i < a->count_rows &&
           (a->counts[i].kind != finding->kind || a->counts[i].what != finding->what))
        i++;
    if (i == sizeof(a->counts) / sizeof(*a->counts))
        i--; /* the table knows more kinds and classes than there are */
    if (i == a->count_rows) {
        a->counts[i] = (struct finding_count){ .kind = finding->kind, .what = finding->what };
        a->count_rows++;
    }
    if (a->counts[i].count++ < FINDINGS_SHOWN && a->finding_count < FINDINGS_MAX) {
        a->findings[a->finding_count++] = *finding;
        return;
    }
    a->counts[i].rest++;
    a->counts[i].rest_digest += finding_identity(finding); /* in whatever order they come */
}

struct quote quote_bytes(const void *data, size_t len)
{
    struct quote q = { .len = (uint32_t)len };

    if (len)
        memcpy(q.data, data, len < sizeof(q.data) ? len : sizeof(q.data));
    return q;
}

struct quote quote_number(uint64_t number)
{
    return (struct quote){ .is_number = true, .number = number };
}
