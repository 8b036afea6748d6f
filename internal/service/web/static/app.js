// What the pages do beyond forms and links: keys, corrections without a new page, and parts of a page that follow the server.
"use strict";
(() => {
  const one = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const root = document.documentElement;
  const body = document.body;
  root.classList.add("js");
  all("[data-help]").forEach((b) => { b.hidden = false; });

  // --- Messages at the bottom of the page.
  const toast = one("#toast");
  let fading;
  function say(text, { bad = false, undo = null } = {}) {
    const box = document.createElement("div");
    box.className = bad ? "bad" : "";
    box.append(text);
    if (undo) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "quiet";
      const key = document.createElement("kbd");
      key.textContent = "u";
      button.append("Undo ", key);
      button.addEventListener("click", undo);
      box.append(button);
    }
    toast.replaceChildren(box);
    clearTimeout(fading);
    fading = setTimeout(() => toast.replaceChildren(), bad ? 12000 : 8000);
  }

  async function post(path, fields) {
    const answer = await fetch(path, { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(fields) });
    const data = await answer.json().catch(() => ({}));
    if (!answer.ok) throw new Error(data.detail || "the server answered " + answer.status);
    return data;
  }

  async function fragment(url, name) {
    const answer = await fetch(url, { headers: { "X-Fragment": name, Accept: "text/html" } });
    if (!answer.ok) throw new Error("the server answered " + answer.status);
    const holder = document.createElement("template");
    holder.innerHTML = await answer.text(); // rendered by the same server as this page
    return holder.content;
  }

  const count = (n, word) => n.toLocaleString("en") + " " + word + (n === 1 ? "" : "s");

  // --- The row that keys act on.
  const rows = () => all("[data-row]").filter((r) => !r.classList.contains("gone"));
  let at = -1;
  function moveTo(index, { focus = true } = {}) {
    const list = rows();
    all(".at").forEach((r) => { r.classList.remove("at"); r.removeAttribute("aria-current"); });
    if (list.length === 0) { at = -1; return; }
    at = Math.max(0, Math.min(index, list.length - 1));
    const row = list[at];
    row.classList.add("at");
    row.setAttribute("aria-current", "true");
    row.scrollIntoView({ block: "nearest" });
    const link = one("a[data-open], .c-what a", row);
    if (focus && link) link.focus({ preventScroll: true });
  }
  const current = () => (at >= 0 ? rows()[at] : null);

  // --- Corrections. Each that was made is kept, so that u takes the last back.
  const done = [];
  const one4 = (name) => one("[data-open-" + name + "]");
  function lower(cases, groups) {
    for (const [name, by] of [["cases", cases], ["groups", groups]]) {
      const place = one4(name);
      if (!place) continue;
      const n = Number(place.textContent.replace(/\D/g, "")) - by;
      place.textContent = Math.max(0, n).toLocaleString("en");
    }
  }

  async function correct(fields, gone, label) {
    const where = at;
    gone.forEach((r) => r.classList.add("going"));
    let made;
    try {
      made = await post("/corrections", fields);
    } catch (err) {
      gone.forEach((r) => r.classList.remove("going"));
      say("Not corrected: " + err.message, { bad: true });
      return;
    }
    const places = gone.map((r) => ({ row: r, next: r.nextSibling, parent: r.parentNode }));
    gone.forEach((r) => { r.classList.remove("going", "picked"); r.remove(); });
    lower(made.cases, gone.length);
    const entry = { ids: made.corrections, places, cases: made.cases };
    done.push(entry);
    picks().forEach((p) => { p.checked = false; });
    selected();
    say(count(made.cases, "case") + " set to " + label + ".", { undo: takeBack });
    shown = null; // rows are missing that the server rendered
    if (rows().length === 0) { refresh(true); return; }
    moveTo(where);
  }

  let undoing = false;
  async function takeBack() {
    if (undoing) return;
    const entry = done.pop();
    if (!entry) {
      const form = one("form[data-undo]");
      if (form) form.requestSubmit();
      else say("There is nothing to undo.");
      return;
    }
    undoing = true;
    try {
      const fields = entry.ids.map((id) => ["correction", id]);
      const back = await post("/corrections/undo", fields);
      for (const { row, next, parent } of entry.places.reverse()) {
        if (parent.isConnected) parent.insertBefore(row, next && next.parentNode === parent ? next : null);
      }
      lower(-back.cases, -entry.places.length);
      say("Took the correction of " + count(back.cases, "case") + " back.");
      if (entry.places.length && entry.places[0].parent.isConnected) moveTo(rows().indexOf(entry.places[0].row));
      else refresh(true);
    } catch (err) {
      done.push(entry);
      say("Not undone: " + err.message, { bad: true });
    } finally {
      undoing = false;
    }
  }

  const picks = () => all(".pick input[type=checkbox]");
  function selected() {
    const bar = one("#selection");
    if (!bar) return [];
    const on = picks().filter((p) => p.checked);
    picks().forEach((p) => p.closest("[data-row]").classList.toggle("picked", p.checked));
    bar.classList.toggle("on", on.length > 0);
    const cases = on.reduce((n, p) => n + Number(one("[data-cases]", p.closest("[data-row]")).dataset.cases), 0);
    const place = one("[data-selected]", bar);
    if (place) place.textContent = on.length === cases ? on.length : count(on.length, "group") + ", " + count(cases, "case");
    if (on.length > 0) shareLabels(bar, on.map((p) => all(".set button[name=label]", p.closest("[data-row]"))));
    return on;
  }
  // The bar has the labels that all selected groups have, in the order of the first.
  const noShared = "The selected groups share no label.";
  function shareLabels(bar, lists) {
    const none = one("[data-none]", bar);
    if (!none) return;
    const shared = lists[0].filter((b) => lists.every((list) => list.some((other) => other.value === b.value)));
    const buttons = shared.map((b, i) => {
      const button = b.cloneNode(true);
      button.classList.remove("answer"); // that of one group
      button.title = one("bdi", b).textContent;
      const key = one("kbd", button) || document.createElement("kbd");
      key.textContent = i + 1;
      if (i < 9) button.prepend(key); else key.remove();
      return button;
    });
    all("button[name=label]", bar).forEach((b) => b.remove());
    none.before(...buttons);
    none.textContent = noShared;
    none.hidden = buttons.length > 0;
  }
  document.addEventListener("change", (e) => {
    if (e.target.matches(".pick input")) selected();
    if (e.target.matches(".filters select")) e.target.form.requestSubmit();
  });
  // An address has only the filters that are set.
  document.addEventListener("submit", (e) => {
    if (!e.target.matches(".filters")) return;
    const empty = [...e.target.elements].filter((f) => f.name && f.value === "");
    empty.forEach((f) => { f.disabled = true; });
    setTimeout(() => empty.forEach((f) => { f.disabled = false; }));
  });
  document.addEventListener("reset", () => setTimeout(selected));

  const labelOf = (button) => { const name = one("bdi", button); return name ? name.textContent : button.value; };
  document.addEventListener("submit", (e) => {
    const form = e.target;
    const button = e.submitter;
    if (!form.matches("[data-correct]") || !button || button.name !== "label") return;
    e.preventDefault();
    const bulk = form.matches("[data-bulk]");
    const gone = bulk ? selected().map((p) => p.closest("[data-row]")) : [form.closest("[data-row]")];
    if (gone.length === 0) return;
    if (!bulk) moveTo(rows().indexOf(gone[0]), { focus: false });
    const fields = [...new FormData(form)];
    correct([...fields, ["label", button.value]], gone, labelOf(button));
  });

  function setLabel(index) {
    const bar = one("#selection");
    const from = bar && selected().length > 0 ? bar : one("[data-correct]", current() || document.createElement("p")) || one("[data-correct-page]");
    if (!from) return;
    const buttons = all("button[name=label]", from);
    if (buttons[index]) from.requestSubmit(buttons[index]);
    else if (from === bar && buttons.length === 0) say(noShared, { bad: true });
  }

  // --- Explanations of the inbox, fetched when they are opened.
  document.addEventListener("toggle", async (e) => {
    const brief = e.target;
    if (!brief.matches("[data-brief]") || !brief.open || brief.dataset.loaded) return;
    brief.dataset.loaded = "yes";
    try {
      one(".brief-body", brief).replaceChildren(await fragment(brief.dataset.brief, "brief"));
    } catch (err) {
      delete brief.dataset.loaded;
      say("No explanation: " + err.message, { bad: true });
    }
  }, true);

  // --- More lines of a document.
  document.addEventListener("click", async (e) => {
    const more = e.target.closest("[data-more]");
    if (more) {
      e.preventDefault();
      const gap = more.parentNode;
      try {
        const lines = await fragment(more.href, "document");
        const first = lines.firstElementChild;
        gap.replaceWith(lines);
        if (first) { first.tabIndex = -1; first.focus({ preventScroll: true }); }
      } catch (err) {
        say("No more lines: " + err.message, { bad: true });
      }
      return;
    }
    const place = e.target.closest("a.ref[href^='#d']");
    if (place) {
      const line = document.getElementById(place.hash.slice(1));
      const holder = line && line.closest("details");
      if (holder) holder.open = true;
    }
    if (e.target.closest("[data-help]")) one("#help").showModal();
  });

  // The line with the most weight is in view, in whatever part of the page scrolls.
  function showQuotes() {
    const line = one(".papers .quoted.first");
    if (!line || location.hash) return;
    for (const holder of [line.closest(".log"), line.closest(".papers")]) {
      if (holder.scrollHeight <= holder.clientHeight || getComputedStyle(holder).overflowY === "visible") continue;
      holder.scrollTop += line.getBoundingClientRect().top - holder.getBoundingClientRect().top - holder.clientHeight / 3;
    }
  }
  showQuotes();

  // --- Pages that follow the server. A part that somebody works in is not replaced: a button says that there is something new.
  let refreshing = false;
  let again = null; // not null: refresh once more, and whether that was asked for
  // What the server rendered, before this script marks and moves rows. Ages are left out: they change by themselves.
  function rendered(part) {
    const copy = part.cloneNode(true);
    all("time", copy).forEach((t) => { t.textContent = ""; });
    return copy;
  }
  let shown = one("#live") && rendered(one("#live"));
  function busy() {
    if (selected().length > 0 || one("#live details.brief[open]") || one(".going") || one("dialog[open]")) return true;
    const focus = document.activeElement;
    if (focus && focus.matches("#live input:not([type=checkbox]), #live select")) return true;
    if (all("#live input:not([type=checkbox], [type=hidden])").some((i) => i.value !== i.defaultValue)) return true;
    return body.dataset.page === "inbox" && rows().length > 0 && (at > 0 || done.length > 0 || one("#live").contains(focus));
  }
  // Fetches the part anew, and replaces it if the server renders something else than before. Unless the person asked for it, what somebody
  // works in stays, with a button that asks.
  async function refresh(asked = false) {
    const live = one("#live");
    if (!live || !live.dataset.fragment) return;
    if (refreshing) { again = again || asked; return; }
    if (!asked && one("#stale") && busy()) return;
    refreshing = true;
    try {
      const next = one("#live", await fragment(location.href, live.dataset.fragment));
      if (!next) return;
      const now = rendered(next);
      if (now.isEqualNode(shown)) { stale(false); return; }
      if (!asked && busy() && stale(true)) return;
      const waits = document.activeElement && document.activeElement !== body && live.contains(document.activeElement);
      const place = at;
      live.replaceWith(next);
      shown = now;
      body.dataset.fresh = String(Number(body.dataset.fresh || 0) + 1);
      if (place >= 0) moveTo(place, { focus: waits });
      if (live.dataset.fragment === "trial") { showQuotes(); if (one(".papers") && !one(".spin")) close(); }
    } catch {
      // The server is away: the next event, or the next connection, tries again.
    } finally {
      refreshing = false;
      if (again !== null) { const next = again; again = null; refresh(next); }
    }
  }
  let source;
  const close = () => { if (source) source.close(); source = null; };
  function follow() {
    const docket = body.dataset.live;
    if (!docket || !window.EventSource) return;
    source = new EventSource("/changes" + (Number(docket) > 0 ? "?docket=" + docket : ""));
    // The first one comes with the connection, for what changed since the page was made.
    source.addEventListener("change", () => refresh());
  }
  // Shows or removes the button that asks for what is new, and says whether the page has a place for it.
  function stale(yes) {
    const old = one("#stale");
    if (!yes && old) old.remove();
    const title = one("#live .titled");
    if (!yes || old || !title) return Boolean(title);
    const box = document.createElement("button");
    box.id = "stale";
    box.type = "button";
    box.className = "quiet";
    box.textContent = "Show what is new";
    box.addEventListener("click", () => { done.length = 0; at = Math.min(at, 0); refresh(true); });
    title.append(box);
    return true;
  }
  // A part that says so is fetched again after some time, until it no longer says so.
  (function later() {
    const live = one("#live[data-again]");
    if (live) setTimeout(() => refresh(true).then(later), Number(live.dataset.again));
  })();
  follow();
  addEventListener("pagehide", close);
  addEventListener("pageshow", (e) => { if (e.persisted) follow(); });

  // --- Keys.
  const keys = {
    j: () => moveTo(at + 1),
    k: () => moveTo(at - 1),
    e: () => { const d = current() && one("details.brief", current()); if (d) d.open = !d.open; },
    o: () => { const a = current() && one("a[data-open], .c-what a", current()); if (a) a.click(); },
    x: () => { const p = current() && one(".pick input", current()); if (p) { p.checked = !p.checked; selected(); } },
    u: takeBack,
    "/": () => { const s = one("[data-search]"); if (s) { s.focus(); s.select(); } },
    "?": () => one("#help").showModal(),
    Escape: () => { picks().forEach((p) => { p.checked = false; }); selected(); },
  };
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
    const typing = e.target.matches("input:not([type=checkbox]), select, textarea");
    if (typing) { if (e.key === "Escape") e.target.blur(); return; }
    if (one("dialog[open]")) return;
    if (/^[1-9]$/.test(e.key)) { e.preventDefault(); setLabel(Number(e.key) - 1); return; }
    const act = keys[e.key];
    if (act) { e.preventDefault(); act(); }
  });
  if (body.dataset.page === "inbox") moveTo(0, { focus: false });
})();
