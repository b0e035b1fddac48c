// What a keyboard gains where scripts run; everything works without.
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
  for (const hint of document.querySelectorAll("[data-keys]")) hint.classList.add("shown");
})();
