/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the page of a shadow up to date: every two seconds it loads the file beside it as a script,
   which calls nfstee() with the time and the new contents.  Parts that were opened stay open. */
"use strict";
(() => {
    const LATE = 10000;
    const source = document.currentScript.dataset.from;
    const main = document.querySelector("main"), state = document.getElementById("state");
    let latest = Number(main.dataset.time), shown = latest, ended = main.dataset.ended === "1";
    let seen = Date.now(), timer = 0;

    const show = html => {
        const open = new Set([...main.querySelectorAll("details[open]")].map(d => d.id));
        const places = [...main.querySelectorAll(".wide")].map(e => e.scrollLeft);
        const focus = [...main.querySelectorAll(".wide, summary")].indexOf(document.activeElement);
        main.innerHTML = html;
        for (const id of open)
            document.getElementById(id)?.setAttribute("open", "");
        main.querySelectorAll(".wide").forEach((e, i) => e.scrollLeft = places[i] || 0);
        if (focus >= 0)
            main.querySelectorAll(".wide, summary")[focus]?.focus({ preventScroll: true });
    };
    const say = () => {
        const late = !ended && Date.now() - seen > LATE;
        state.className = late ? "warning" : "note";
        state.textContent = ended ? "The shadow has ended." :
            late ? "The shadow has not written anything new for " +
                Math.round((Date.now() - seen) / 1000) + " s." : "The page shows the shadow as it works.";
    };
    globalThis.nfstee = told => {
        if (told.time !== latest) {
            latest = told.time;
            seen = Date.now();
            ended = told.ended;
        }
        if (shown !== latest && getSelection().isCollapsed) { /* else what is selected would go */
            shown = latest;
            show(told.html);
        }
        say();
        if (ended && shown === latest)
            clearInterval(timer);
    };
    const load = () => {
        const script = document.createElement("script");
        script.src = source + "?" + Date.now();
        script.onload = script.onerror = () => {
            script.remove();
            say();
        };
        document.head.append(script);
    };
    say();
    if (!ended)
        timer = setInterval(load, 2000);
})();
