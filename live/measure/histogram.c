/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "measure/histogram.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static int64_t lowest_of(unsigned slot)
{
    unsigned power = slot < 2 * HISTOGRAM_PARTS ? 0 : slot / HISTOGRAM_PARTS - 1;

    return (int64_t)(slot - power * HISTOGRAM_PARTS) << power;
}

/* The highest value of the slot, but none above the highest that was added. */
static int64_t highest_of(const struct histogram *h, unsigned slot)
{
    int64_t value = lowest_of(slot + 1) - 1;

    return slot == HISTOGRAM_SLOTS - 1 || value > h->most ? h->most : value;
}

void histogram_set_limits(struct histogram *h)
{
    h->low = h->least < 0 ? 0 : h->least;
    h->high = h->most > HISTOGRAM_MOST ? HISTOGRAM_MOST : h->most;
}

void histogram_add_far(struct histogram *h, int64_t ns)
{
    if (!h->count || ns < h->least)
        h->least = ns;
    if (!h->count || ns > h->most)
        h->most = ns;
    histogram_set_limits(h);
    h->count++;
    h->sum += ns < 0 ? 0 : (uint64_t)ns;
    h->slot[histogram_slot(ns)]++;
}

void histogram_merge(struct histogram *to, const struct histogram *from)
{
    if (!from->count)
        return;
    if (!to->count || from->least < to->least)
        to->least = from->least;
    if (!to->count || from->most > to->most)
        to->most = from->most;
    histogram_set_limits(to);
    to->count += from->count;
    to->sum += from->sum;
    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++)
        to->slot[i] += from->slot[i];
}

void histogram_since(struct histogram *to, const struct histogram *now,
                     const struct histogram *before)
{
    bool is_first = true;

    memset(to, 0, sizeof(*to));
    to->count = now->count - before->count;
    to->sum = now->sum - before->sum;
    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
        to->slot[i] = now->slot[i] - before->slot[i];
        if (!to->slot[i])
            continue;
        if (is_first)
            to->least = lowest_of(i);
        is_first = false;
        to->most = highest_of(now, i);
    }
    histogram_set_limits(to);
}

void histogram_buckets(const struct histogram *h, const int64_t *bounds, uint32_t count,
                       uint64_t *counts)
{
    uint32_t bucket = 0;

    memset(counts, 0, (count + 1) * sizeof(*counts));
    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
        if (!h->slot[i])
            continue;
        while (bucket < count && highest_of(h, i) > bounds[bucket])
            bucket++;
        counts[bucket] += h->slot[i];
    }
}

int64_t histogram_at(const struct histogram *h, double part)
{
    /* the fudge: 0.07 * 100 is above 7 */
    double wanted = ceil(part * (double)h->count * (1 - 1e-12));
    uint64_t seen = 0;

    if (!h->count || part <= 0)
        return h->count ? h->least : 0;
    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
        seen += h->slot[i];
        if (h->slot[i] && (double)seen >= wanted)
            return highest_of(h, i);
    }
    return h->most;
}

static double deviation(const struct histogram *h, double mean)
{
    double sum = 0;

    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
        double middle = ((double)lowest_of(i) + (double)highest_of(h, i)) / 2 - mean;

        if (h->slot[i])
            sum += (double)h->slot[i] * middle * middle;
    }
    return h->count ? sqrt(sum / (double)h->count) : 0;
}

/* The next percentile to write: five for each halving of the distance to 100. */
static double next_level(double level)
{
    double halvings = floor(log2(100 / (100 - level))) + 1;

    return level + 100 / (5 * exp2(halvings));
}

void histogram_write(const struct histogram *h, double unit, FILE *to)
{
    double mean = h->count ? (double)h->sum / (double)h->count : 0, level = 0;
    uint64_t seen = 0;

    fprintf(to, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    for (unsigned i = 0; i < HISTOGRAM_SLOTS; i++) {
        double value = (double)highest_of(h, i) / unit;

        if (!h->slot[i])
            continue;
        seen += h->slot[i];
        for (; seen < h->count && 100.0 * (double)seen >= level * (double)h->count;
             level = next_level(level))
            fprintf(to, "%12.3f %2.12f %10" PRIu64 " %14.2f\n", value, level / 100, seen,
                    1 / (1 - level / 100));
        if (seen == h->count) {
            fprintf(to, "%12.3f %2.12f %10" PRIu64 "\n", value, 1.0, seen);
            break;
        }
    }
    fprintf(to, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean / unit,
            deviation(h, mean) / unit);
    fprintf(to, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n", (double)h->most / unit,
            h->count);
    fprintf(to, "#[Buckets = %12d, SubBuckets     = %12d]\n", HISTOGRAM_POWERS, HISTOGRAM_PARTS);
}
