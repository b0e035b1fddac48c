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
  // One after the other, a second apart: an answer that is late never hides a later one.
  let asked = false;
  let busy = false;
  let state = false;
  const refresh = async (isState) => {
    asked = true;
    state ||= isState;
    if (busy) return;
    busy = true;
    while (asked) {
      const all = state;
      asked = state = false;
      const again = new Promise((done) => { setTimeout(done, 1000); });
      const answer = await fetch(location.href, { headers: { accept: "text/html" } }).catch(() => null);
      const text = answer?.ok ? await answer.text().catch(() => "") : "";
      const page = new DOMParser().parseFromString(text, "text/html");
      for (const part of document.querySelectorAll("[data-live]")) {
        const fresh = page.getElementById(part.id);
        if (fresh && (all || part.dataset.live !== "state")) replace(part, fresh);
      }
      await again;
    }
    busy = false;
  };
  for (const live of document.querySelectorAll("[data-events]")) {
    for (const address of live.dataset.events.split(" ").filter(Boolean)) {
      const source = new EventSource(address);
      // The first tells what is by now: something else than the page, if the job was quick.
      source.addEventListener("state", (event) => {
        if (/"state":"(done|cancelled|failed)"/.test(event.data)) source.close();
        refresh(true);
      });
      source.addEventListener("progress", () => refresh(false));
    }
  }
  // Examples are copied by a button, where the browser lets a page do that.
  for (const button of document.querySelectorAll("[data-copies]")) {
    if (!navigator.clipboard) break;
    button.classList.add("shown");
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copies)?.textContent ?? "";
      await navigator.clipboard.writeText(text);
      button.textContent = "✓";
    });
  }
  for (const hint of document.querySelectorAll("[data-keys]")) hint.classList.add("shown");
})();
