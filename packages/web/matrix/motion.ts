/** Whether the user wants no movement on the screen, and which colours the page has. */
import { signal } from "@preact/signals";

const reduced = matchMedia("(prefers-reduced-motion: reduce)");

export const isStill = signal(reduced.matches);
reduced.addEventListener("change", () => {
  isStill.value = reduced.matches;
});

/** Calls back when the page turns light or dark. Returns a function that ends this. */
export function onTheme(changed: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  const chosen = new MutationObserver(changed);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    dark.removeEventListener("change", changed);
    chosen.disconnect();
  };
}
