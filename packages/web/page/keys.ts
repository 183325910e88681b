/**
 * Keys of the page. Each view registers what it offers; `?` lists everything that works now. Keys are ignored
 * while the user types.
 */
import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

interface Binding {
  /** As `KeyboardEvent.key` names it, such as `?` or `ArrowLeft`; two keys in a row with a space: `g j`. */
  readonly keys: string;
  readonly label: string;
  readonly act: (event: KeyboardEvent) => void;
  /** Works only while this element has the focus; default: always. */
  readonly within: RefObject<HTMLElement | null> | undefined;
}

/** What works now, in the order of registration. */
export const bindings = signal<readonly Binding[]>([]);

/** The first key of a pair waits this long for the second, in ms. */
const PAIR_MS = 1500;
let first = "";
let firstAtMs = 0;

/** On a button or link, these keys press it. */
const ACTIVATES: ReadonlySet<string> = new Set(["Enter", " "]);

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target))
    return;
  if (ACTIVATES.has(event.key) && isControl(event.target)) return;
  // A dialog that needs an answer hides what the keys act on.
  if (event.key !== "?" && document.querySelector("dialog:modal") !== null) return;
  const pair = event.timeStamp - firstAtMs < PAIR_MS ? `${first} ${event.key}` : event.key;
  const working = bindings
    .peek()
    .filter(({ within }) => within === undefined || within.current === document.activeElement);
  const found =
    working.findLast(({ keys }) => keys === pair) ?? working.findLast(({ keys }) => keys === event.key);
  if (found !== undefined) {
    first = "";
    event.preventDefault();
    found.act(event);
  } else {
    first = event.key;
    firstAtMs = event.timeStamp;
  }
});

/**
 * Offers a key while the component is shown. `act` may change with every render.
 * @param within the element that must have the focus, for keys that do something else everywhere else
 */
export function useKey(keys: string, label: string, act: Binding["act"], within?: Binding["within"]): void {
  const latest = useRef(act);
  latest.current = act;
  // Not after the paint: a key that is pressed when its effect is seen must not be lost.
  useLayoutEffect(() => {
    const binding: Binding = { keys, label, act: (event) => latest.current(event), within };
    bindings.value = [...bindings.peek(), binding];
    return () => {
      bindings.value = bindings.peek().filter((other) => other !== binding);
    };
  }, [keys, label, within]);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button, input, summary, [role=button]") !== null;
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName)) &&
    !(target instanceof HTMLInputElement && ["checkbox", "radio", "range", "button"].includes(target.type))
  );
}
