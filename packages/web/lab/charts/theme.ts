/** The colours in which charts are drawn: canvases do not follow style sheets. */
import { computed, signal } from "@preact/signals";
import { DARK, DASHES, LIGHT } from "@tutti/lab/report/svg/palette.ts";

const system = matchMedia("(prefers-color-scheme: dark)");
const isDark = signal(system.matches);
system.addEventListener("change", () => {
  isDark.value = system.matches;
});

interface ChartColours {
  readonly text: string;
  readonly line: string;
  readonly back: string;
  readonly series: readonly string[];
  readonly waits: readonly string[];
}

export const LIGHT_COLOURS: ChartColours = { text: "#55606a", line: "#d5dbe1", back: "#ffffff", ...LIGHT };
const DARK_COLOURS: ChartColours = { text: "#a3adb7", line: "#353d45", back: "#14171a", ...DARK };

export const colours = computed(() => (isDark.value ? DARK_COLOURS : LIGHT_COLOURS));

/** The dash pattern of a series, which tells it apart without colour. */
export function dashOf(series: number): readonly number[] {
  return DASHES[series % DASHES.length];
}
