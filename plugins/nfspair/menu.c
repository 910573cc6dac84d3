/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries under Tools > NFS Pair, for the packet that is selected in the window. */
#include "compat.h"
#include "nfspair.h"
#include "pairs.h"

static void *frame_number(frame_data *fd, void *unused)
{
    (void)unused;
    return GUINT_TO_POINTER(fd->num);
}

uint32_t menu_frame(void)
{
    return GPOINTER_TO_UINT(plugin_if_get_frame_data(frame_number, NULL));
}

/* The messages of the selected frame; NULL: none, or nothing is selected. */
static const struct pair_message *selected(void)
{
    const struct pairs *pairs = tree_pairs();
    uint32_t frame = menu_frame();
    return pairs && frame ? pairs_first(pairs, frame) : NULL;
}

/* From a call to its reply, from a reply to its call, from a copy to the first of its kind. */
static void go_to_counterpart(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    for (const struct pair_message *m = selected(); m; m = pairs_next(tree_pairs(), m)) {
        const struct pair_operation *op = pairs_operation(tree_pairs(), m->operation);
        if (!op)
            continue;
        uint32_t to = pairs_shown(tree_pairs(), m->is_reply == (m->repeat == 0) ? op->call_frame
                                                                                : op->reply_frame);
        if (to) {
            plugin_if_goto_frame(to);
            return;
        }
    }
}

static void add_term(GString *filter, const char *field, uint32_t value)
{
    if (value)
        g_string_append_printf(filter, "%s%s == %u", filter->len ? " or " : "", field, value);
}

static void apply(GString *filter)
{
    if (filter->len)
        plugin_if_apply_filter(filter->str, TRUE);
    g_string_free(filter, TRUE);
}

static void show_operation(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    GString *filter = g_string_new("");
    for (const struct pair_message *m = selected(); m; m = pairs_next(tree_pairs(), m))
        add_term(filter, "nfspair.operation", m->operation);
    apply(filter);
}

static void show_object(ext_menubar_gui_type gui, void *object, void *data)
{
    (void)gui;
    (void)object;
    (void)data;
    GString *filter = g_string_new("");
    for (const struct pair_message *m = selected(); m; m = pairs_next(tree_pairs(), m)) {
        uint32_t id = m->new_object ? m->new_object : m->object;
        add_term(filter, "nfspair.object", id);
        add_term(filter, "nfspair.object2", id);
        add_term(filter, "nfspair.new_object", id);
    }
    apply(filter);
}

void menu_register(void)
{
    ext_menu_t *menu = ext_menubar_register_menu(proto_nfspair, "NFS Pair", TRUE);
    ext_menubar_set_parentmenu(menu, "Tools");
    ext_menubar_add_entry(menu, "Go to Counterpart", "From a call to its reply, and back",
                          go_to_counterpart, NULL);
    ext_menubar_add_entry(menu, "Show This Operation",
                          "The call, the reply, and all copies of both", show_operation, NULL);
    ext_menubar_add_entry(menu, "Show Operations on This Object",
                          "Everything done to the file or directory", show_object, NULL);
    menu_discrepancies_register(menu);
}
