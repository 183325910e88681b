/** The frame of every page: the list of views at the side, the view, and the page of keys. */

import { visibleLine } from "@tutti/words/visible.ts";
import { type ComponentChildren, type ComponentType, Fragment } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isStale } from "./clock.ts";
import { bindings, useKey } from "./keys.ts";
import { address, goTo, linkTo } from "./navigation.ts";

/** A view of a page. A page has one list of them; a new view is one file and one line in it. */
export interface View {
  /** Its name in the address. */
  readonly id: string;
  readonly label: string;
  /** The key that opens it, after `g`. */
  readonly key: string;
  readonly Page: ComponentType;
}

interface ShellProps {
  readonly title: string;
  readonly views: readonly View[];
  /** Shown above every view: state of the connection, the user, a search. */
  readonly head?: ComponentChildren;
}

/** Characters of a name in an address that belongs to no page. */
const MAX_SHOWN_NAME = 60;

/** Other pages of the site that this page is a part of; its HTML names them. */
const SITE = [...document.querySelectorAll<HTMLLinkElement>('link[rel="help"]')];

export function Shell({ title, views, head }: ShellProps) {
  const { view: name } = address.value;
  const shown = name === "" ? views[0] : views.find(({ id }) => id === name);
  useEffect(() => {
    document.title = `${shown?.label ?? "No such page"} · ${title}`;
  }, [shown, title]);
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it goes to the content, not to an address */}
      <a class="skip" href="#main" onClick={toMain}>
        Skip to the content
      </a>
      <nav class="rail" aria-label="Views">
        <p class="brand">{title}</p>
        <ul>
          {views.map((view) => (
            <Fragment key={view.id}>
              <ViewKey view={view} />
              <li>
                <a href={linkTo(view.id)} aria-current={view === shown ? "page" : undefined}>
                  {view.label}
                </a>
              </li>
            </Fragment>
          ))}
        </ul>
        {SITE.length === 0 ? null : (
          <ul class="site">
            {SITE.map(({ href, title }) => (
              <li key={href}>
                <a href={href}>{title}</a>
              </li>
            ))}
          </ul>
        )}
      </nav>
      <div class="column">
        <header class="head">{head}</header>
        <main id="main" tabIndex={-1} class={isStale.value ? "stale" : undefined}>
          {/* Switches off all that can be pressed in the view, also in its dialogs. */}
          <fieldset class="view" disabled={isStale.value}>
            {shown === undefined ? <NoPage name={name} views={views} /> : <shown.Page key={shown.id} />}
          </fieldset>
        </main>
      </div>
      <KeysPage />
    </>
  );
}

/** For an address that was typed or cut off. */
function NoPage({ name, views }: { readonly name: string; readonly views: readonly View[] }) {
  return (
    <>
      <h1>
        There is no page “{visibleLine(name.slice(0, MAX_SHOWN_NAME))}
        {name.length > MAX_SHOWN_NAME ? "…" : ""}”
      </h1>
      <p>These pages exist:</p>
      <ul>
        {views.map(({ id, label }) => (
          <li key={id}>
            <a href={linkTo(id)}>{label}</a>
          </li>
        ))}
      </ul>
    </>
  );
}

function toMain(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function ViewKey({ view }: { readonly view: View }) {
  useKey(`g ${view.key}`, `go to ${view.label}`, () => goTo(view.id));
  return null;
}

/** The page of keys, opened by `?`. */
function KeysPage() {
  const dialog = useRef<HTMLDialogElement>(null);
  useKey("?", "show or hide this page", () =>
    dialog.current?.open ? dialog.current.close() : dialog.current?.showModal(),
  );
  const shown = new Map(bindings.value.map(({ keys, label }) => [keys, label]));
  return (
    <dialog ref={dialog} class="keys" aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {[...shown].map(([keys, label]) => (
          <Fragment key={keys}>
            <dt>
              {(keys === " " ? [keys] : keys.split(" ")).map((key) => (
                <kbd key={key}>{KEY_NAMES[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </Fragment>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
};
