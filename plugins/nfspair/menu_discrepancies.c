/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries under Tools > NFS Pair that are about discrepancies. */
#include "compat.h"
#include "nfspair.h"
#include "pairs.h"

#include <wsutil/filesystem.h>
#include <wsutil/report_message.h>

#include <unistd.h>

struct search {
    bool forward;
    uint32_t found;
};

/* The next frame with discrepancies that the display filter lets through. */
static void *search(capture_file *cf, void *data)
{
    struct search *s = data;
    const struct discrepancies *found = tree_found();
    uint32_t from = cf->current_frame ? cf->current_frame->num : 0;
    uint32_t frame = pairs_fed(tree_pairs(), from);
    do {
        frame =
            s->forward ? discrepancies_next(found, frame) : discrepancies_previous(found, frame);
        uint32_t shown = pairs_shown(tree_pairs(), frame);
        const frame_data *fd = shown ? frame_data_sequence_find(cf->provider.frames, shown) : NULL;
        if (fd && fd->passed_dfilter)
            s->found = shown;
    } while (frame && !s->found);
    return NULL;
}

static bool nothing_known(void)
{
    if (!tree_found() || !tree_pairs())
        report_warning("NFS Pair: no discrepancies are known. Set the preference "
                       "\"Discrepancies\" of the protocol NFS Pair to the result of a comparison.");
    return !tree_found() || !tree_pairs();
}

static void go_on(bool forward)
{
    struct search s = { forward, 0 };
    if (nothing_known())
        return;
    plugin_if_get_capture_file(search, &s);
    if (s.found)
        plugin_if_goto_frame(s.found);
    else
        report_warning("NFS Pair: no discrepancy in the displayed packets %s this one.",
                       forward ? "after" : "before");
}

static void go_to_next(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    go_on(true);
}

static void go_to_previous(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    go_on(false);
}

/* --- the selected packet's --- */

/* What the entries want to know of the selected packet's discrepancies. */
struct summary {
    uint32_t counterpart; /* of the first one that has one */
    char *file;           /* ours; NULL: this capture */
    uint32_t group;       /* of the one before */
    GString *groups;      /* "1, 7" */
};

static void summarize(void *ctx, const struct discrepancy *d)
{
    struct summary *s = ctx;
    if (!s->counterpart && d->other_frame) {
        s->counterpart = d->other_frame;
        s->file = g_strdup(d->other_file);
    }
    if (d->group != s->group) /* a list has many of one group */
        g_string_append_printf(s->groups, "%s%u", s->groups->len ? ", " : "", d->group);
    s->group = d->group;
}

static bool selected(struct summary *s)
{
    *s = (struct summary){ .groups = g_string_new("") };
    uint32_t frame = menu_frame();
    if (nothing_known())
        return false;
    for (const struct pair_message *m = pairs_first(tree_pairs(), frame); m;
         m = pairs_next(tree_pairs(), m)) {
        const struct pair_operation *op = pairs_operation(tree_pairs(), m->operation);
        if (op && !m->repeat)
            tree_discrepancies(frame, op->xid, summarize, s);
    }
    if (!s->groups->len)
        report_warning("NFS Pair: the selected packet has no discrepancy.");
    return s->groups->len;
}

static void free_summary(struct summary *s)
{
    g_free(s->file);
    g_string_free(s->groups, TRUE);
}

static char *open_capture(void)
{
    ws_info_t *info = NULL;
    plugin_if_get_ws_info(&info);
    return info && info->ws_info_supported ? g_strdup(info->cf_filename) : NULL;
}

/* |name| or its last part in the folder of |beside|, if that is a file; g_free. */
static char *beside(const char *name, const char *beside)
{
    char *folder = g_path_get_dirname(beside), *last = g_path_get_basename(name);
    char *path = g_build_filename(folder, last, NULL);
    g_free(folder);
    g_free(last);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return path;
    g_free(path);
    return NULL;
}

/* The database has names as they were given when captures were ingested; g_free. */
static char *find_capture(const char *name)
{
    char *here = open_capture(), *path = NULL;
    if (g_file_test(name, G_FILE_TEST_IS_REGULAR))
        path = g_strdup(name);
    if (!path)
        path = beside(name, discrepancies_path(tree_found()));
    if (!path && here)
        path = beside(name, here);
    g_free(here);
    return path;
}

/* Another window, with the same profile and preference. */
static void open_window(const char *file, uint32_t frame)
{
    char *number = g_strdup_printf("%u", frame),
         *program = g_file_read_link("/proc/self/exe", NULL);
    char *setting = g_strconcat("nfspair.discrepancies:", discrepancies_path(tree_found()), NULL);
    const char *profile = get_profile_name();
    bool is_default = strcmp(profile, "Default") == 0;
    char *command[] = { program ? program : (char *)"wireshark",
                        (char *)"-r",
                        (char *)file,
                        (char *)"-g",
                        number,
                        (char *)"-o",
                        setting,
                        is_default ? NULL : (char *)"-C",
                        (char *)profile,
                        NULL };
    GError *error = NULL;
    if (!g_spawn_async(NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &error)) {
        report_failure("NFS Pair: %s", error->message);
        g_error_free(error);
    }
    g_free(program);
    g_free(number);
    g_free(setting);
}

static void go_to_counterpart(ext_menubar_gui_type gui, void *object, void *data)
{
    struct summary s;
    (void)gui;
    (void)object;
    (void)data;
    if (selected(&s)) {
        char *file = s.file ? find_capture(s.file) : NULL;
        if (!s.counterpart)
            report_warning("NFS Pair: the other side has no counterpart of this message.");
        else if (!s.file && pairs_shown(tree_pairs(), s.counterpart))
            plugin_if_goto_frame(pairs_shown(tree_pairs(), s.counterpart));
        else if (!s.file)
            report_warning("NFS Pair: a read filter removed the counterpart.");
        else if (file)
            open_window(file, s.counterpart);
        else
            report_warning("NFS Pair: the counterpart is frame %u of %s. This file does not "
                           "exist there, beside this capture, or beside the discrepancies.",
                           s.counterpart, s.file);
        g_free(file);
    }
    free_summary(&s);
}

static void show_alike(ext_menubar_gui_type gui, void *object, void *data)
{
    struct summary s;
    (void)gui;
    (void)object;
    (void)data;
    if (selected(&s)) {
        char *filter = g_strdup_printf("nfspair.discrepancy.group in {%s}", s.groups->str);
        plugin_if_apply_filter(filter, TRUE);
        g_free(filter);
    }
    free_summary(&s);
}

static void show_all(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    if (!nothing_known())
        plugin_if_apply_filter("nfspair.discrepancy", TRUE);
}

void menu_discrepancies_register(ext_menu_t *menu)
{
    ext_menubar_add_separator(menu);
    ext_menubar_add_entry(menu, "Next Discrepancy", "Among the displayed packets", go_to_next,
                          NULL);
    ext_menubar_add_entry(menu, "Previous Discrepancy", "Among the displayed packets",
                          go_to_previous, NULL);
    ext_menubar_add_entry(menu, "Go to the Other Server's Answer",
                          "In a window of its own if it is in another capture", go_to_counterpart,
                          NULL);
    ext_menubar_add_entry(menu, "Show Discrepancies", "All discrepancies", show_all, NULL);
    ext_menubar_add_entry(menu, "Show Discrepancies Like These",
                          "The groups of the selected packet", show_alike, NULL);
}
