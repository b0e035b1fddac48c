// What a keyboard gains where scripts run, and jobs that are watched; everything works without.
"use strict";
(() => {
  const typing = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
  // From difference to difference: n and p.
  const differences = () =>
    [...document.querySelectorAll(".beside .row:not(.same):not(.names)")];
  const step = (by) => {
    const rows = differences();
    if (rows.length === 0) return;
    const at = rows.indexOf(document.activeElement);
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : (at + by + rows.length) % rows.length;
    rows[next].tabIndex = -1;
    rows[next].focus({ preventScroll: true });
    rows[next].scrollIntoView({ block: "center" });
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing()) return;
    if (event.key === "n") step(1);
    else if (event.key === "p") step(-1);
    else if (event.key === "/") {
      const box = document.querySelector("main input[type=search], main textarea, main input[type=text]");
      if (!box) return;
      event.preventDefault();
      box.focus();
    }
  });
  // Jobs as they go: when an event comes, the parts that change are taken anew from the page itself.
  const replace = (part, fresh) => {
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    // Who is about to press a button keeps it, unless there is another state.
    if (focused && part.dataset.live !== "state") return;
    const opened = [...part.querySelectorAll("details")].map((details) => details.open);
    part.replaceWith(fresh);
    fresh.querySelectorAll("details").forEach((details, at) => { details.open = opened[at] ?? false; });
    if (focused?.value) fresh.querySelector(`button[value="${CSS.escape(focused.value)}"]`)?.focus();
  };
  let again = 0;
  let waiting = false;
  let state = false;
  const refresh = async (isState) => {
    state ||= isState;
    if (waiting) return;
    waiting = true;
    await new Promise((done) => { setTimeout(done, Math.max(0, again - Date.now())); });
    again = Date.now() + 1000;
    const all = state;
    waiting = state = false;
    const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
    if (!answer?.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && (all || part.dataset.live !== "state")) replace(part, fresh);
    }
  };
  for (const live of document.querySelectorAll("[data-events]")) {
    for (const address of live.dataset.events.split(" ").filter(Boolean)) {
      const source = new EventSource(address);
      let first = true;
      source.addEventListener("state", (event) => {
        if (/"state":"(done|cancelled|failed)"/.test(event.data)) source.close();
        if (!first) refresh(true);
        first = false;
      });
      source.addEventListener("progress", () => refresh(false));
    }
  }
  for (const hint of document.querySelectorAll("[data-keys]")) hint.classList.add("shown");
})();
