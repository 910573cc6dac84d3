/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tree mode: the subtree "NFS Pair" of each message in a frame.
 *
 * A postdissector.  On the first pass it feeds the frame to the engine; from then on, and
 * already then, it shows what pairs.c has for the frame. */
#include "compat.h"
#include "feed.h"
#include "flow/host.h"
#include "nfspair.h"
#include "run.h"
#include "show.h"

#include <epan/prefs.h>
#include <epan/range.h>
#include <wsutil/report_message.h>

static struct pairs *pairs;
static bool failed; /* the engine is out of order for this capture */
static struct discrepancies *found;
static bool asked_fit; /* whether |found| is about this capture */

static compat_preference pref_feed = TRUE, pref_lint = FALSE;
static range_t *pref_ports;
static const char *pref_same_server = "";
static const char *pref_discrepancies = "";
static gint pref_side = SIDE_BOTH;

/* Addresses of servers, from the preference. */
static void read_same_servers(struct same_servers *same)
{
    gchar **words = g_strsplit_set(pref_same_server, " ,;", -1);
    struct err err;
    for (gchar **word = words; *word; word++)
        if (**word && same_servers_add(same, *word, &err) < 0)
            ws_warning("nfspair: preference nfspair.same_server: %s", err.text);
    g_strfreev(words);
}

/* The engine of this capture, made when its first frame comes. */
static bool open_pairs(void)
{
    struct same_servers same = { 0 };
    struct engine_options options = { .same = &same };
    struct err err;
    uint16_t *ports = NULL;
    if (pairs || failed)
        return !failed;
    for (unsigned i = 0; pref_ports && i < pref_ports->nranges; i++)
        for (uint32_t port = pref_ports->ranges[i].low; port <= pref_ports->ranges[i].high;
             port++) {
            ports = g_renew(uint16_t, ports, options.port_count + 1);
            ports[options.port_count++] = (uint16_t)port;
        }
    options.ports = ports;
    read_same_servers(&same);
    options.block_digests = pref_lint;
    pairs = pairs_new(&options, pref_lint, &err);
    g_free(ports);
    failed = !pairs;
    if (failed)
        ws_warning("nfspair: %s", err.text);
    return pairs != NULL;
}

static void feed(packet_info *pinfo, tvbuff_t *tvb)
{
    struct frame frame;
    struct err err;
    if (!feed_frame(pinfo, tvb, &frame) || !open_pairs())
        return;
    frame.number = pinfo->num;
    if (pairs_frame(pairs, &frame, &err) < 0) {
        failed = true;
        ws_warning("nfspair: %s", err.text);
    } else if (found) {
        discrepancies_seen(found, pairs_count(pairs), frame.time);
    }
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
    (void)data;
    if (run_is_on() || !pref_feed)
        return 0;
    if (!pinfo->fd->visited)
        feed(pinfo, tvb);
    if (!pairs)
        return 0;
    for (const struct pair_message *m = pairs_first(pairs, pinfo->num); m; m = pairs_next(pairs, m))
        show_message(tree, tvb, pinfo, pairs, m);
    return (int)tvb_captured_length(tvb);
}

/* The discrepancies for a capture that is opened now. */
static void open_found(void)
{
    struct err err;
    if (!pref_discrepancies || !*pref_discrepancies || !pref_feed || run_is_on())
        return;
    found = discrepancies_open(pref_discrepancies, (enum side_code)pref_side, &err);
    if (!found)
        report_failure("NFS Pair: discrepancies are not shown: %s", err.text);
}

/* Once, when all frames were seen. */
static void ask_fit(void)
{
    struct err text;
    if (found && !asked_fit && pairs && pairs_count(pairs) &&
        !discrepancies_fit(found, pairs_count(pairs), &text))
        report_failure("NFS Pair: %s", text.text);
    asked_fit = true;
}

static void forget(void)
{
    ask_fit();
    pairs_free(pairs);
    discrepancies_close(found);
    pairs = NULL;
    found = NULL;
    failed = asked_fit = false;
}

static void start(void)
{
    forget();
    open_found();
}

/* The capture was read to its end (in the window, and in the first pass of two). */
static void capture_read(void)
{
    struct err err;
    if (pairs && !failed && pairs_end(pairs, &err) < 0)
        ws_warning("nfspair: %s", err.text);
    ask_fit();
}

const struct pairs *tree_pairs(void)
{
    return pairs;
}

const struct discrepancies *tree_found(void)
{
    return found;
}

int64_t tree_discrepancies(uint32_t number, uint32_t xid, discrepancy_show show, void *ctx)
{
    struct err err;
    if (!found)
        return 0;
    int64_t all = discrepancies_of(found, pairs_fed(pairs, number), xid, show, ctx, &err);
    if (all >= 0)
        return all;
    ws_warning("nfspair: discrepancies are no longer shown: %s", err.text);
    discrepancies_close(found);
    found = NULL;
    return 0;
}

/* The text of an option of the engine, as a sentence. */
static const char *option_text(const char *name)
{
    char *text = wmem_strdup_printf(wmem_epan_scope(), "%s.", engine_option_named(name)->text);
    *text = g_ascii_toupper(*text);
    return text;
}

void tree_register(void)
{
    static const enum_val_t sides[] = {
        { "both", "Both sides", SIDE_BOTH },
        { "ref", "The reference", SIDE_REF },
        { "sut", "The system under test", SIDE_SUT },
        { NULL, NULL, 0 },
    };
    show_register();
    module_t *module = prefs_register_protocol(proto_nfspair, NULL);
    prefs_register_bool_preference(module, "feed", "Pair calls and replies",
                                   "Follow all NFS traffic while a capture is read. Without "
                                   "this there is no NFS Pair tree.",
                                   &pref_feed);
    range_convert_str(wmem_epan_scope(), &pref_ports, "", UINT16_MAX);
    prefs_register_range_preference(module, "ports", "More RPC ports", option_text("rpc-port"),
                                    &pref_ports, UINT16_MAX);
    prefs_register_string_preference(module, "same_server",
                                     "Other addresses of servers (A=B, separated by spaces)",
                                     option_text("same-server"), &pref_same_server);
    prefs_register_bool_preference(module, "lint", "Find what breaks RFC 1813",
                                   "Show as expert infos what \"nfsdigest lint\" finds. This "
                                   "takes time and memory while a capture is read.",
                                   &pref_lint);
    prefs_register_filename_preference(module, "discrepancies", "Discrepancies",
                                       "The result of a comparison of two servers (nfsdigest "
                                       "compare -o FILE), for one of the compared captures. "
                                       "Each message shows its discrepancies.",
                                       &pref_discrepancies, FALSE);
    prefs_register_enum_preference(module, "discrepancies_side", "Side of discrepancies",
                                   "Which side this capture is. It is detected automatically. "
                                   "A capture of both servers can be shown as either side.",
                                   &pref_side, sides, FALSE);
    register_init_routine(start);
    register_cleanup_routine(forget);
    register_postseq_cleanup_routine(capture_read);
}

void tree_handoff(void)
{
    register_postdissector(create_dissector_handle(dissect, proto_nfspair));
}
