// SPDX-License-Identifier: GPL-2.0-or-later
// Filters and order of the groups.  They are kept behind the # of the address, so that a filtered page
// can be named: #filter?class=time&kind=value&procedure=NFS%20READ&noise=hide&q=text&sort=-1
"use strict";
(() => {
    const table = document.getElementById("groups"), form = document.getElementById("filters");
    if (!table || !form)
        return;
    const body = table.tBodies[0], shown = document.getElementById("shown");
    const heads = Array.from(table.tHead.rows[0].cells);
    const groups = Array.from(body.rows, row => {
        const section = document.getElementById("g" + row.dataset.id);
        return { row, section, data: row.dataset,
                 text: (row.textContent + " " + (section ? section.textContent : "")).toLowerCase() };
    });
    const fields = ["cause", "class", "procedure", "kind"];
    const causes = document.getElementById("causes").tBodies[0].rows;
    const input = name => document.getElementById("f-" + name);
    let sort = "";

    for (const name of fields) {
        input(name).add(new Option("all", ""));
        if (name === "cause") {
            for (const row of causes) {
                const link = row.cells[0].querySelector("a");
                if (link)
                    link.href = "#filter?cause=" + row.id.slice(1);
                input(name).add(new Option(row.cells[0].textContent + " " +
                    row.querySelector("code").textContent, row.id.slice(1)));
            }
            continue;
        }
        const values = Array.from(new Set(groups.map(g => g.data[name]))).sort();
        for (const value of values)
            input(name).add(new Option(value || "none", value || "-"));
    }

    const order = () => {
        const column = Math.abs(Number(sort)), down = sort.startsWith("-");
        const number = column && heads[column - 1].dataset.sort === "number";
        const key = g => {
            const cell = g.row.cells[column - 1];
            return number ? Number(cell.dataset.v) : cell.textContent;
        };
        const sorted = groups.slice();
        if (column)
            sorted.sort((a, b) => {
                const x = key(a), y = key(b), by = x < y ? -1 : x > y ? 1 : 0;
                return (down ? -by : by) || a.data.id - b.data.id;
            });
        body.append(...sorted.map(g => g.row));
        heads.forEach((head, i) => {
            if (i + 1 === column)
                head.setAttribute("aria-sort", down ? "descending" : "ascending");
            else
                head.removeAttribute("aria-sort");
        });
    };

    const apply = () => {
        const text = input("q").value.trim().toLowerCase(), noise = input("noise").value;
        let count = 0, all = 0, rows = 0;
        for (const g of groups) {
            const fits = fields.every(n => {
                const wanted = input(n).value;
                return !wanted || (g.data[n] || "-") === wanted;
            }) && (!noise || (noise === "only") === (g.data.noise === "1")) &&
                (!text || g.text.includes(text));
            g.row.hidden = !fits;
            if (g.section)
                g.section.hidden = !fits;
            all += Number(g.data.count);
            if (fits) {
                rows++;
                count += Number(g.data.count);
            }
        }
        const n = v => v.toLocaleString("en-US");
        shown.value = `${n(rows)} of ${n(groups.length)} groups, ${n(count)} of ${n(all)} discrepancies`;
    };

    const store = () => {
        const words = new URLSearchParams();
        for (const name of [...fields, "noise", "q"])
            if (input(name).value)
                words.set(name, input(name).value);
        if (sort)
            words.set("sort", sort);
        history.replaceState(null, "", words.toString() ? "#filter?" + words : "#discrepancies");
    };

    const load = () => {
        if (!location.hash.startsWith("#filter?"))
            return;
        const words = new URLSearchParams(location.hash.slice(8));
        for (const name of [...fields, "noise", "q"])
            input(name).value = words.get(name) || "";
        sort = words.get("sort") || "";
        if (!/^-?[1-9][0-9]?$/.test(sort) || Math.abs(Number(sort)) > heads.length)
            sort = "";
    };

    heads.forEach((head, i) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
            const column = String(i + 1);
            sort = sort === column ? "-" + column : sort === "-" + column ? "" : column;
            order();
            store();
        });
    });
    form.addEventListener("submit", event => event.preventDefault());
    form.addEventListener("input", () => { apply(); store(); });
    form.addEventListener("reset", () => setTimeout(() => { sort = ""; order(); apply(); store(); }));
    addEventListener("hashchange", event => {
        load();
        order();
        apply();
        if (/#filter\?cause=[0-9]+$/.test(event.newURL))
            form.scrollIntoView();
    });
    // a link to a group that a filter hides
    addEventListener("click", event => {
        const link = event.target.closest && event.target.closest("a[href^='#g']");
        const section = link && document.getElementById(link.hash.slice(1));
        if (section && section.hidden)
            section.hidden = false;
    });
    form.hidden = false;
    load();
    order();
    apply();
})();
