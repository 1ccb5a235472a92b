// The theme button and the copy buttons.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
  const current = () => root.dataset.theme ?? (systemIsDark.matches ? "dark" : "light");
  const label = () => button.setAttribute("aria-label", `Switch to the ${current() === "dark" ? "light" : "dark"} theme`);

  button.addEventListener("click", () => {
    root.dataset.theme = current() === "dark" ? "light" : "dark";
    label();
    try {
      localStorage.setItem("hebbcheck-theme", root.dataset.theme);
    } catch {
      // The choice then lasts as long as the page.
    }
  });
  systemIsDark.addEventListener("change", label);
  label();

  const copyBySelection = (text) => {
    const area = Object.assign(document.createElement("textarea"), { value: text });
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    if (!copied) throw new Error("not copied");
  };
  const copy = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      copyBySelection(text);
    }
  };
  document.addEventListener("click", async (event) => {
    const pressed = event.target.closest(".copy");
    if (!pressed) return;
    try {
      await copy(pressed.dataset.copy);
      pressed.textContent = "Copied";
    } catch {
      pressed.textContent = "Not allowed";
    }
    pressed.focus();
    setTimeout(() => (pressed.textContent = "Copy"), 1600);
  });
})();
