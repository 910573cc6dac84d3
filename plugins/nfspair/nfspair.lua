-- SPDX-License-Identifier: GPL-2.0-or-later
-- Filters for people: Tools > NFS Pair Filters in Wireshark's window, and there the report of a
-- comparison and colors.  The plugin itself (nfspair.so) has the entries that look at the selected
-- packet: next discrepancy, the other server's answer, operations on this object, ...

if not gui_enabled() then
    return
end

local MENU = "NFS Pair Filters/"

local function apply(filter)
    set_filter(filter)
    apply_filter()
end

-- A display filter's string: backslashes and quotes are escaped.
local function quote(text)
    return '"' .. text:gsub('[\\"]', "\\%0") .. '"'
end

-- What two servers answered in another way: the outcome itself, and what is in the reply; the rest is
-- what clocks and networks may have done.  The profile's colors are by the same three.
local OUTCOME = 'nfspair.discrepancy.kind in {"rpc", "missing reply", "status", "malformed"}'
local VALUE = 'nfspair.discrepancy.kind in {"value", "presence", "order", "entry", "pattern", "count"}'

local filters = {
    { "Calls without a reply", "nfspair.message == 0 and nfspair.pairing in {1, 3, 4}" },
    { "Replies without a call", "nfspair.message == 1 and nfspair.pairing == 2" },
    { "Retransmissions and duplicate replies", "nfspair.retransmission or nfspair.duplicate_reply" },
    { "Partial and malformed messages", "nfspair.partial or nfspair.malformed" },
    { "Failed operations", '(nfspair.status > 0 and not (nfspair.program == "NLM" and nfspair.status == 3)) or nfspair.rpc_status > 0' },
    { "Slower than 100 ms", "nfspair.latency > 0.1" },
    { "Changes to names",
      'nfspair.procedure in {"CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK"}' },
    { "Discrepancies", "nfspair.discrepancy" },
    { "Discrepancies in the outcome", OUTCOME },
}
for _, entry in ipairs(filters) do
    register_menu(MENU .. entry[1], function() apply(entry[2]) end, MENU_TOOLS_UNSORTED)
end

register_menu(MENU .. "Path contains...", function()
    new_dialog("NFS Pair: path contains", function(text)
        if text and text ~= "" then
            apply("nfspair.path contains " .. quote(text) ..
                  " or nfspair.path2 contains " .. quote(text))
        end
    end, "Text")
end, MENU_TOOLS_UNSORTED)

register_menu(MENU .. "Procedure and latency...", function()
    new_dialog("NFS Pair: procedure slower than", function(procedure, ms)
        local terms = {}
        if procedure and procedure ~= "" then
            terms[#terms + 1] = "nfspair.procedure == " .. quote(procedure:upper())
        end
        if tonumber(ms) then
            terms[#terms + 1] = string.format("nfspair.latency > %.6f", tonumber(ms) / 1000)
        end
        if #terms > 0 then
            apply(table.concat(terms, " and "))
        end
    end, "Procedure", "Milliseconds")
end, MENU_TOOLS_UNSORTED)

register_menu(MENU .. "Discrepancies of field...", function()
    new_dialog("NFS Pair: discrepancies of a field", function(text)
        if text and text ~= "" then
            apply("nfspair.discrepancy.field contains " .. quote(text))
        end
    end, "Field, or a part of its name")
end, MENU_TOOLS_UNSORTED)

-- For this session; View > Colorize Conversation > Reset Colorization takes them off.  The first one
-- that matches has its way.  What is in the list already takes a color when it is dissected again.
register_menu(MENU .. "Color discrepancies", function()
    set_color_filter_slot(1, OUTCOME)
    set_color_filter_slot(2, VALUE)
    set_color_filter_slot(3, "nfspair.discrepancy")
    redissect_packets()
end, MENU_TOOLS_UNSORTED)

-- A file's name as a URL: all but the plainest bytes are escaped.
local function url_of(path)
    return "file://" .. path:gsub("[^%w/._~-]", function(c)
        return string.format("%%%02X", c:byte())
    end)
end

-- The report is looked for beside the database, under its name with .html in the place of .db.
register_menu(MENU .. "Open the comparison's report", function()
    local database = get_preference("nfspair.discrepancies") or ""
    local report = database:gsub("%.db$", "") .. ".html"
    local file = database ~= "" and io.open(report, "r")
    if file then
        file:close()
        if not report:match("^/") then
            report = (os.getenv("PWD") or "") .. "/" .. report
        end
        browser_open_url(url_of(report))
        return
    end
    local window = TextWindow.new("NFS Pair")
    if database == "" then
        window:set("No comparison is known. Set the preference \"Discrepancies\" of the protocol NFS Pair\n" ..
                   "to the result of one (nfsdigest compare -o FILE).")
    else
        window:set("There is no report " .. report .. ". To make it:\n\n    nfsdigest report --html " ..
                   report .. " " .. database)
    end
end, MENU_TOOLS_UNSORTED)
