/** Keeps the address of the page and of its view equal. */
import { signal } from "@preact/signals";
import { type Address, addressText, parseAddress } from "./address.ts";

/** The address that is shown now. */
export const address = signal<Address>(parseAddress(location.hash));

addEventListener("hashchange", () => {
  readAddress();
  // They are about what was shown before.
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
});

/** Reads the address again, after it was replaced without an event. */
export function readAddress(): void {
  address.value = parseAddress(location.hash);
}

/** Goes to a view. Use as the target of links: then they can be copied and opened in another tab. */
export function linkTo(view: string, rest: readonly string[] = [], query: Address["query"] = {}): string {
  return addressText({ view, rest, query });
}

export function goTo(view: string, rest: readonly string[] = [], query: Address["query"] = {}): void {
  location.hash = linkTo(view, rest, query);
}

/**
 * Changes parameters of the current view; an empty value removes one.
 * @param keepStep true: the back button returns to the former value. Left out: for changes while the user
 *   drags or types
 */
export function setQuery(changes: Readonly<Record<string, string>>, keepStep = false): void {
  const now = address.peek();
  const next = { ...now, query: { ...now.query, ...changes } };
  const text = addressText(next);
  if (text === location.hash) return;
  if (keepStep) history.pushState(null, "", text);
  else history.replaceState(null, "", text);
  address.value = parseAddress(text);
}
