/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a rule file on top of the built-in one, and as a catalogue of causes: a message that
 * names the line, or rules that answer for every field. */
#include "judge/explanations.h"
#include "rules/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int pick(void *ctx, const struct field_place *place)
{
    const struct rule_case given = { .has_status = true, .has_type = true, .type = 1 };
    const struct compare_rule **list = place->result ? rules_for(ctx, place) : NULL;

    if (list && !rules_pick(list, &given))
        abort();
    free(list);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *names[] = { "default", "fuzz" }, *texts[2];
    char *text = malloc(size + 1);
    struct explanations explanations;
    struct rules *rules;
    struct err err;

    if (!text)
        return 0;
    wire_init();
    memcpy(text, data, size);
    text[size] = '\0';
    texts[1] = text;
    for (const struct rules_builtin *b = rules_builtins; b->name; b++)
        if (strcmp(b->name, "default") == 0)
            texts[0] = b->text;
    if (rules_read(names, texts, 2, &rules, &err) == 0) {
        wire_each_field(pick, rules);
        rules_free(rules);
    } else if (!strstr(err.text, "fuzz:")) {
        abort();
    }
    explanations_read(&explanations, "fuzz", text, &err);
    explanations_free(&explanations);
    free(text);
    return 0;
}
