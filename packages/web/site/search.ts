/**
 * The search of the site, without a server. Its text is a script that is loaded at the first use, because
 * pages that are opened from a disk cannot fetch.
 */
import { trustedUrl } from "../page/trusted.ts";
import { type Found, type FoundPage, find, wordsOf } from "./find.ts";

declare global {
  /** Set by the script of the text. */
  var tuttiPages: readonly FoundPage[] | undefined;
}

const MAX_SHOWN = 30;
/** The root of the site, which each page has at another distance. */
const base = new URL(".", (document.currentScript as HTMLScriptElement).src);
const box = document.querySelector("search")!;
const input = box.querySelector("input")!;
const panel = document.createElement("div");
const status = document.createElement("p");
const list = document.createElement("ul");
panel.className = "found";
panel.hidden = true;
status.role = "status";
panel.append(status, list);
box.append(panel);

function load(): void {
  if (globalThis.tuttiPages !== undefined || document.getElementById("text") !== null) return;
  const script = document.createElement("script");
  script.id = "text";
  script.onload = show;
  script.src = trustedUrl(new URL("search-text.js", base).href);
  document.head.append(script);
}

function show(): void {
  const pages = globalThis.tuttiPages;
  panel.hidden = pages === undefined || input.value.trim() === "";
  if (panel.hidden || pages === undefined) return;
  const found = find(pages, input.value);
  const words = wordsOf(input.value);
  const more = found.length > MAX_SHOWN ? `, the first ${MAX_SHOWN} are shown` : "";
  status.textContent =
    found.length === 0
      ? "No section has all these words."
      : `${found.length} ${found.length === 1 ? "section" : "sections"}${more}`;
  list.replaceChildren(...found.slice(0, MAX_SHOWN).map((one) => item(one, words)));
}

function item({ target, page, heading, excerpt }: Found, words: readonly string[]): HTMLElement {
  const [entry, link, where, text] = ["li", "a", "span", "p"].map((name) => document.createElement(name));
  (link as HTMLAnchorElement).href = new URL(target, base).href;
  link.append(...marked(heading, words));
  where.textContent = page === heading ? "" : page;
  text.append(...marked(excerpt, words));
  entry.append(link, " ", where, text);
  return entry;
}

/** The text with its words marked. */
function marked(text: string, words: readonly string[]): Node[] {
  const quoted = words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return text.split(new RegExp(`(${quoted.join("|")})`, "i")).map((part, i) => {
    if (i % 2 === 0) return document.createTextNode(part);
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function close(): void {
  panel.hidden = true;
}

input.addEventListener("focus", () => {
  load();
  show();
});
input.addEventListener("input", show);
box.addEventListener("focusout", ({ relatedTarget }) => {
  if (!box.contains(relatedTarget as Node | null)) close();
});
list.addEventListener("click", close);
box.addEventListener("keydown", (event) => {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  if (event.key === "Escape") {
    input.focus();
    close();
  } else if (event.key === "Enter" && at < 0) links[0]?.click();
  else if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
  else if (event.key === "ArrowUp") (at <= 0 ? input : links[at - 1]).focus();
  else return;
  event.preventDefault();
});
addEventListener("keydown", (event) => {
  const isTyping = (event.target as HTMLElement).closest("input, textarea, select") !== null;
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
  event.preventDefault();
  input.focus();
});
