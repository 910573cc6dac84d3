/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mapping_cache: what is found is what was asked for, also where hashes meet. */
#include "anon/mapping_cache.h"
#include "anon_build.h"
#include "base/digest.h"

static void *memory;

static struct bytes_cache new_cache(uint32_t sets, uint32_t max)
{
    struct bytes_cache c;

    memory = calloc(1, bytes_cache_size(sets, max));
    assert_non_null(memory);
    bytes_cache_init(&c, memory, sets, max);
    return c;
}

static void put(struct bytes_cache *c, uint8_t kind, const char *key, const char *value)
{
    const struct bytes v = { (const uint8_t *)value, (uint32_t)strlen(value) };

    bytes_cache_put(c, kind, (const uint8_t *)key, (uint32_t)strlen(key), &v);
}

/* The value, or NULL. */
static const char *get(const struct bytes_cache *c, uint8_t kind, const char *key)
{
    static char text[BYTES_CACHE_MAX + 1];
    struct bytes out;

    if (!bytes_cache_get(c, kind, (const uint8_t *)key, (uint32_t)strlen(key), &out))
        return NULL;
    memcpy(text, out.data, out.len);
    text[out.len] = '\0';
    return text;
}

static void keeps_and_gives_up(void **state)
{
    struct bytes_cache c = new_cache(1, 8);

    (void)state;
    assert_null(get(&c, 1, "a"));
    put(&c, 1, "a", "1");
    put(&c, 2, "a", "22");
    put(&c, 1, "ab", "");
    assert_string_equal(get(&c, 1, "a"), "1");
    assert_string_equal(get(&c, 2, "a"), "22");
    assert_string_equal(get(&c, 1, "ab"), "");
    assert_null(get(&c, 3, "a"));
    assert_null(get(&c, 1, "b"));
    put(&c, 1, "12345678", "87654321"); /* as long as there is room for */
    assert_string_equal(get(&c, 1, "12345678"), "87654321");
    put(&c, 1, "123456789", "x");
    put(&c, 1, "c", "123456789");
    assert_null(get(&c, 1, "123456789"));
    assert_null(get(&c, 1, "c"));
    assert_string_equal(get(&c, 1, "a"), "1"); /* neither took a place */
    put(&c, 1, "e", "5");                      /* one must go: the places are four */
    assert_string_equal(get(&c, 1, "e"), "5");
    assert_int_equal(
        !get(&c, 1, "a") + !get(&c, 2, "a") + !get(&c, 1, "ab") + !get(&c, 1, "12345678"), 1);
    free(memory);
}

struct hashed {
    uint32_t tag, n;
};

static int compare_tags(const void *a, const void *b)
{
    uint32_t x = ((const struct hashed *)a)->tag, y = ((const struct hashed *)b)->tag;

    return (x > y) - (x < y);
}

/* Keys whose hashes are the same in all that a cache of one set looks at. */
static void keys_are_compared(void **state)
{
    enum { N = 400000 };
    struct hashed *all = malloc(N * sizeof(*all));
    unsigned met = 0;

    (void)state;
    assert_non_null(all);
    for (uint32_t n = 0; n < N; n++) {
        char key[16];

        snprintf(key, sizeof(key), "%08u", n);
        all[n].tag = (uint32_t)(XXH3_64bits_withSeed(key, 8, 1) >> 32) | 1;
        all[n].n = n;
    }
    qsort(all, N, sizeof(*all), compare_tags);
    for (uint32_t i = 1; i < N; i++) {
        struct bytes_cache c;
        char a[16], b[16];

        if (all[i - 1].tag != all[i].tag)
            continue;
        met++;
        c = new_cache(1, 16);
        snprintf(a, sizeof(a), "%08u", all[i - 1].n);
        snprintf(b, sizeof(b), "%08u", all[i].n);
        put(&c, 1, a, "a");
        assert_null(get(&c, 1, b));
        put(&c, 1, b, "b");
        assert_string_equal(get(&c, 1, a), "a");
        assert_string_equal(get(&c, 1, b), "b");
        free(memory);
    }
    assert_true(met > 5);
    free(all);
}

static void numbers(void **state)
{
    enum { SETS = 4 };
    struct number_cache c = { calloc(SETS, sizeof(*c.sets)), 62 }, none = { 0 };
    unsigned found = 0;
    uint64_t out;

    (void)state;
    assert_non_null(c.sets);
    for (uint64_t in = 1; in <= 1000; in++) {
        assert_false(number_cache_get(&c, in, &out));
        number_cache_put(&c, in, in << 32 | 7);
        assert_true(number_cache_get(&c, in, &out));
        assert_int_equal(out, in << 32 | 7);
    }
    for (uint64_t in = 1; in <= 1000; in++)
        if (number_cache_get(&c, in, &out)) {
            assert_int_equal(out, in << 32 | 7);
            found++;
        }
    assert_int_equal(found, SETS * CACHE_WAYS);
    number_cache_put(&none, 1, 2);
    assert_false(number_cache_get(&none, 1, &out));
    free(c.sets);
}

static void without_memory(void **state)
{
    struct bytes_cache c;

    (void)state;
    bytes_cache_init(&c, NULL, 16, 8);
    put(&c, 1, "a", "b");
    assert_null(get(&c, 1, "a"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_and_gives_up),
        cmocka_unit_test(keys_are_compared),
        cmocka_unit_test(numbers),
        cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
