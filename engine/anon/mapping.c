/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/anon/mapping.c
 *
 * Makes the mapping, with a subkey from the key for each class and way, and maps numbers, times and
 * addresses, there and back.  A cache that gets no memory is left out: its values are computed each
 * time.  Strings are in mapping_bytes.c and mapping_text.c.  For anon.c, rewrite.c and unmask.c.
 * The contract is in mapping.h, what the parts share in mapping_parts.h.
 */
#include "base/wide.h"
#include "anon/mapping_parts.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    LABEL_MAX = 64,
    WIDE_SETS = 1 << 14,   /* of numbers of 64 bits: 1 MiB for each class */
    NARROW_SETS = 1 << 10, /* of 32 bits, before the table: 64 KiB */
    TABLE_WORTH = 4096,    /* misses, of 0.3 us each, after which the table (1.3 MiB, 3 ms) pays */
    ADDRESS_PLACES = 1 << 12,
    HANDLE_SETS = 1 << 14,
    HANDLE_BYTES = 64,
    NAME_SETS = 1 << 14,
    NAME_BYTES = 48,
};

static const char *const extra_labels[EXTRA_MAX] = {
    [EXTRA_STAMP] = "stamp",
    [EXTRA_CREDENTIAL] = "credential",
    [EXTRA_XID] = "xid",
    [EXTRA_PORT] = "port",
};

/* --- making it --- */

static void *take_memory(struct mapping *m, size_t size)
{
    void *memory;

    if (size > MAPPING_BYTES - m->memory)
        return NULL;
    memory = calloc(1, size);
    if (memory)
        m->memory += size;
    return memory;
}

/* A subkey for |what| of a class. */
static int derive(const struct key *key, const char *what, const char *cls, void *out, size_t len,
                  struct err *err)
{
    char label[LABEL_MAX];

    snprintf(label, sizeof(label), "%s%s%s", what, cls ? " " : "", cls ? cls : "");
    return key_derive(key, label, out, len, err);
}

static struct ff1 *make_permutation(const struct key *key, const char *what, const char *cls,
                                    unsigned radix, struct err *err)
{
    uint8_t subkey[32];
    struct ff1 *f = NULL;

    if (derive(key, what, cls, subkey, sizeof(subkey), err) == 0)
        f = ff1_new(subkey, sizeof(subkey), radix, NULL, 0, err);
    explicit_bzero(subkey, sizeof(subkey));
    return f;
}

static int make_class(struct mapping *m, const struct key *key, enum field_class cls,
                      struct err *err)
{
    const char *name = class_name(cls);
    uint8_t subkey[32];
    int result;

    m->permutations[cls] = make_permutation(key, "permuted", name, 256, err);
    m->bits[cls] = m->permutations[cls] ? make_permutation(key, "byte", name, 2, err) : NULL;
    if (!m->bits[cls])
        return -ERR_SYSTEM;
    result = derive(key, "token", name, subkey, sizeof(subkey), err);
    if (result == 0)
        result = hmac_open(&m->hmacs[cls], subkey, sizeof(subkey), err);
    explicit_bzero(subkey, sizeof(subkey));
    return result;
}

static struct same *make_same(struct mapping *m, const struct key *key, enum field_class cls,
                              struct err *err)
{
    uint8_t subkey[SAME_KEY_LEN];
    struct same *same = NULL;

    if (derive(key, "same", class_name(cls), subkey, sizeof(subkey), err) == 0)
        same = same_new(subkey, &m->wide, CLASS_MAX + (uint32_t)cls,
                        key->version == KEY_VERSION_1 ? SAME_CONTROLS_AMONG : SAME_CONTROLS_APART,
                        err);
    explicit_bzero(subkey, sizeof(subkey));
    return same;
}

static int make_addresses(struct mapping *m, const struct key *key, struct err *err)
{
    uint8_t key4[PAN_KEY_LEN], key6[PAN_KEY_LEN];
    int result = derive(key, "address", "4", key4, sizeof(key4), err);

    if (result == 0)
        result = derive(key, "address", "6", key6, sizeof(key6), err);
    if (result == 0)
        result = address_map_open(&m->addresses, key4, key6,
                                  key->version == KEY_VERSION_1 ? PAN_PUBLISHED : PAN_NUMBERED,
                                  m->policy->ranges, err);
    explicit_bzero(key4, sizeof(key4));
    explicit_bzero(key6, sizeof(key6));
    return result;
}

/* Any whole number of seconds within |shift_days|, except none. */
static int make_shift(struct mapping *m, const struct key *key, struct err *err)
{
    uint64_t most = (uint64_t)m->policy->shift_days * 86400, n;
    uint8_t bytes[8];

    if (m->policy->rules[CLASS_TIME] != RULE_SHIFT || !most)
        return 0;
    if (derive(key, "shift", NULL, bytes, sizeof(bytes), err) < 0)
        return -ERR_SYSTEM;
    n = wide_product(load_be64(bytes), 2 * most).high;
    m->shift = n < most ? -(int64_t)(n + 1) : (int64_t)(n - most + 1);
    return 0;
}

static int make(struct mapping *m, const struct key *key, struct err *err)
{
    uint8_t subkey[WIDE_KEY_LEN], half[32];
    int result = derive(key, "wide", NULL, subkey, sizeof(subkey), err);

    if (result == 0)
        result = wide_open(&m->wide, subkey, err);
    explicit_bzero(subkey, sizeof(subkey));
    for (int cls = 0; cls < CLASS_MAX && result == 0; cls++)
        result = make_class(m, key, (enum field_class)cls, err);
    for (int i = 0; i < EXTRA_MAX && result == 0; i++) {
        m->extras[i] = make_permutation(key, "extra", extra_labels[i], 256, err);
        result = m->extras[i] ? 0 : -ERR_SYSTEM;
    }
    if (result == 0 && !m->first) {
        result = derive(key, "halves", NULL, half, sizeof(half), err);
        m->halves = result == 0 ? ff1_new(half, sizeof(half), 2, NULL, 0, err) : NULL;
        result = m->halves ? 0 : -ERR_SYSTEM;
        explicit_bzero(half, sizeof(half));
    }
    if (result < 0 || !(m->names = make_same(m, key, CLASS_NAME, err)) ||
        !(m->hosts = make_same(m, key, CLASS_HOST, err)) ||
        !(m->texts = make_same(m, key, CLASS_OPAQUE, err)) || make_addresses(m, key, err) < 0 ||
        make_shift(m, key, err) < 0)
        return -ERR_SYSTEM;
    m->address_cache = take_memory(m, ADDRESS_PLACES * sizeof(*m->address_cache));
    bytes_cache_init(&m->handle_cache, take_memory(m, bytes_cache_size(HANDLE_SETS, HANDLE_BYTES)),
                     HANDLE_SETS, HANDLE_BYTES);
    bytes_cache_init(&m->name_cache, take_memory(m, bytes_cache_size(NAME_SETS, NAME_BYTES)),
                     NAME_SETS, NAME_BYTES);
    return affixes_open(m, err);
}

struct mapping *mapping_new(const struct key *key, const struct policy *policy, struct err *err)
{
    struct mapping *m = calloc(1, sizeof(*m));

    if (!m) {
        err_memory(err, "a mapping of values");
        return NULL;
    }
    m->policy = policy;
    m->first = key->version == KEY_VERSION_1;
    if (make(m, key, err) == 0)
        return m;
    mapping_free(m);
    return NULL;
}

static void free_numbers(struct numbers *n)
{
    free(n->cache.sets);
    free(n->table);
}

void mapping_free(struct mapping *m)
{
    if (!m)
        return;
    for (int cls = 0; cls < CLASS_MAX; cls++) {
        ff1_free(m->permutations[cls]);
        ff1_free(m->bits[cls]);
        hmac_close(m->hmacs[cls]);
        free_numbers(&m->numbers[cls][0]);
        free_numbers(&m->numbers[cls][1]);
    }
    for (int i = 0; i < EXTRA_MAX; i++) {
        ff1_free(m->extras[i]);
        free_numbers(&m->extra_numbers[i]);
    }
    ff1_free(m->halves);
    free(m->half_cache.sets);
    same_free(m->names);
    same_free(m->hosts);
    same_free(m->texts);
    wide_close(&m->wide);
    address_map_close(&m->addresses);
    free(m->address_cache);
    free(m->handle_cache.tags);
    free(m->name_cache.tags);
    free(m->suffixes.texts);
    free(m->prefixes.texts);
    buf_free(&m->out);
    buf_free(&m->part);
    buf_free(&m->digits);
    buf_free(&m->zeros);
    free(m);
}

/* --- numbers --- */

static bool is_kept(const struct policy_kept *kept, uint64_t value)
{
    uint32_t low = 0, high = kept ? kept->count : 0;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (kept->values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return kept && low < kept->count && kept->values[low] == value;
}

/* Numbers as digits of radix 256: so bytes of the same class have the same pseudonyms. */
static uint64_t permute(const struct mapping *m, struct ff1 *f, const uint16_t *table,
                        unsigned bits, bool back, uint64_t value)
{
    uint16_t digits[8];
    unsigned n = bits / 8;

    if (f == m->halves)
        return map_verifier(m, back, value);
    if (table && !back)
        return ff1_table_encrypt(table, (uint32_t)value);
    for (unsigned i = 0; i < n; i++)
        digits[i] = (uint8_t)(value >> 8 * (n - 1 - i));
    (back ? ff1_decrypt : ff1_encrypt)(f, digits, n);
    value = 0;
    for (unsigned i = 0; i < n; i++)
        value = value << 8 | digits[i];
    return value;
}

/* Among the numbers that are not kept: steps over kept ones are steps of the permutation. */
static uint64_t permute_rest(const struct mapping *m, struct ff1 *f, const struct policy_kept *kept,
                             const uint16_t *table, unsigned bits, bool back, uint64_t value)
{
    if (!value || is_kept(kept, value))
        return value;
    do
        value = permute(m, f, table, bits, back, value);
    while (!value || is_kept(kept, value));
    return value;
}

void number_cache_open(struct mapping *m, struct number_cache *cache, unsigned sets)
{
    cache->sets = take_memory(m, sets * sizeof(*cache->sets));
    cache->shift = 64 - (unsigned)__builtin_ctz(sets);
}

static uint64_t compute_number(struct mapping *m, struct numbers *n, struct ff1 *f,
                               const struct policy_kept *kept, unsigned bits, uint64_t value)
{
    uint64_t result;

    if (!n->misses)
        number_cache_open(m, &n->cache, bits == 64 ? WIDE_SETS : NARROW_SETS);
    if (n->misses < TABLE_WORTH && ++n->misses == TABLE_WORTH && bits == 32) {
        n->table = take_memory(m, FF1_TABLE_LEN * sizeof(*n->table));
        if (n->table)
            ff1_fill_table(f, n->table);
    }
    result = permute_rest(m, f, kept, n->table, bits, false, value);
    number_cache_put(&n->cache, value, result);
    return result;
}

static struct ff1 *permutation_of(const struct mapping *m, enum field_class cls, unsigned bits)
{
    return cls == CLASS_VERIFIER && bits == 64 && m->halves ? m->halves : m->permutations[cls];
}

/* Numbers that tell no time, and are known to everyone: moved, they would tell by how much. */
static bool is_constant(const struct mapping *m, uint64_t seconds)
{
    static const uint32_t constants[] = {
        1,          /* Nix, OSTree */
        315532800,  /* 1980-01-01: ZIP's first, of reproducible builds */
        315619200,  /* the day after it */
        318211200,  /* 1980-02-01: Gradle */
        456789000,  /* Yarn */
        499162500,  /* npm */
        946684800,  /* 2000-01-01 */
        1073741822, /* UTIME_OMIT and UTIME_NOW, of who takes them for seconds */
        1073741823, INT32_MAX, 1u << 31, UINT32_MAX,
    };

    if (!seconds)
        return true;
    for (size_t i = 0; i < sizeof(constants) / sizeof(*constants) && !m->first; i++)
        if (constants[i] == seconds)
            return true;
    return false;
}

/* Times: constants stay, so what would become one becomes what that would, and so on. */
static uint64_t shift(const struct mapping *m, unsigned bits, bool back, uint64_t value)
{
    uint64_t mask = bits == 64 ? UINT64_MAX : UINT32_MAX;
    uint64_t by = (back ? -(uint64_t)m->shift : (uint64_t)m->shift) & mask;
    uint64_t result = (value + by) & mask;

    if (is_constant(m, value))
        return value;
    while (is_constant(m, result))
        result = (result + by) & mask;
    return result;
}

uint64_t mapping_number(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                        uint64_t value)
{
    struct numbers *n = &m->numbers[cls][bits == 64];
    uint64_t result;

    switch (rule) {
    case RULE_KEEP:
        return value;
    case RULE_UNSET:
    case RULE_ZERO:
        return 0;
    case RULE_SHIFT:
        return shift(m, bits, false, value);
    case RULE_OWNER: /* the type, which some servers repeat here, and rwx of the owner */
        return value & 0170700;
    default:
        break;
    }
    if (!value || number_cache_get(&n->cache, value, &result))
        return value ? result : 0;
    return compute_number(m, n, permutation_of(m, cls, bits), &m->policy->kept[cls], bits, value);
}

uint64_t mapping_number_back(struct mapping *m, enum field_class cls, enum rule rule, unsigned bits,
                             uint64_t value)
{
    switch (rule) {
    case RULE_KEEP:
    case RULE_OWNER:
        return value;
    case RULE_UNSET:
    case RULE_ZERO:
        return 0;
    case RULE_SHIFT:
        return shift(m, bits, true, value);
    default:
        return permute_rest(m, permutation_of(m, cls, bits), &m->policy->kept[cls], NULL, bits,
                            true, value);
    }
}

static unsigned extra_bits(enum policy_extra extra)
{
    return extra == EXTRA_PORT ? 16 : 32;
}

uint32_t mapping_extra(struct mapping *m, enum policy_extra extra, uint32_t value)
{
    enum rule rule = (enum rule)m->policy->extras[extra];
    struct numbers *n = &m->extra_numbers[extra];
    uint64_t result;

    if (rule == RULE_KEEP || !value)
        return value;
    if (rule == RULE_UNSET || rule == RULE_ZERO)
        return 0;
    if (number_cache_get(&n->cache, value, &result))
        return (uint32_t)result;
    return (uint32_t)compute_number(m, n, m->extras[extra], NULL, extra_bits(extra), value);
}

uint32_t mapping_extra_back(struct mapping *m, enum policy_extra extra, uint32_t value)
{
    enum rule rule = (enum rule)m->policy->extras[extra];

    if (rule == RULE_KEEP)
        return value;
    if (rule == RULE_UNSET || rule == RULE_ZERO)
        return 0;
    return (uint32_t)permute_rest(m, m->extras[extra], NULL, NULL, extra_bits(extra), true, value);
}

int64_t mapping_shift(const struct mapping *m)
{
    return m->shift;
}

uint64_t mapping_overflows(const struct mapping *m)
{
    return m->overflows;
}

/* --- addresses --- */

static uint32_t address_place(const struct address *a)
{
    uint64_t hash = load_le32(a->bytes);

    if (a->version == 6)
        hash ^= load_le64(a->bytes) * 31 ^ load_le64(a->bytes + 8);
    return (uint32_t)(hash * 0x9e3779b97f4a7c15u >> 40) & (ADDRESS_PLACES - 1);
}

void mapping_address(struct mapping *m, const struct address *in, struct address *out)
{
    struct address_place *place, unused;

    if (!in->version || m->policy->rules[CLASS_ADDRESS] == RULE_KEEP) {
        *out = *in;
        return;
    }
    place = m->address_cache ? &m->address_cache[address_place(in)] : &unused;
    if (!m->address_cache || !address_equal(&place->in, in)) {
        place->in = *in;
        address_map_encrypt(&m->addresses, &place->in, &place->out);
    }
    *out = place->out;
}

void mapping_address_back(struct mapping *m, const struct address *in, struct address *out)
{
    if (m->policy->rules[CLASS_ADDRESS] == RULE_KEEP)
        *out = *in;
    else
        address_map_decrypt(&m->addresses, in, out);
}
