/** A part that scrolls sideways by itself, so that the page does not; the keyboard reaches it. */
import type { ComponentChildren } from "preact";

export function Scrollable({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the keyboard could not scroll this part
    <section class="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
