"use strict";
// Before the first paint: the theme that the reader chose last time. Storage may be forbidden.
try {
  const chosen = localStorage.getItem("hebbcheck-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Without storage the system's theme applies.
}
