/**
 * Defines the colours of the charts. Those of policies follow Okabe and Ito 2008 ("Color universal design"),
 * darker on a white and lighter on a dark background, so that lines have a contrast of 3:1. Dash patterns
 * distinguish policies without colour. The colours of waits go from pale to deep.
 */

export interface Palette {
  readonly series: readonly string[];
  /** From no wait to the longest. */
  readonly waits: readonly string[];
}

export const LIGHT: Palette = {
  series: ["#0072b2", "#d55e00", "#008a64", "#b4588f", "#b07a00", "#3793c4", "#6b6b6b", "#7a3b9e"],
  waits: ["#b9d5ea", "#7fb2d9", "#3f88c0", "#b3651f", "#7a3410"],
};

export const DARK: Palette = {
  series: ["#5aaee8", "#f2843c", "#2fbf95", "#e295c2", "#e6b03a", "#8fd0f5", "#b0b0b0", "#c69be6"],
  waits: ["#27455c", "#3a75a3", "#6fb3e6", "#e09a4f", "#ffd09a"],
};

/** The colour of a series, such as a policy; after the last one, the first comes again. */
export function colourOf({ series }: Pick<Palette, "series">, index: number): string {
  return series[index % series.length];
}

/** Line patterns by series, the first one solid; they repeat after four. */
export const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 2], [9, 3, 2, 3]];
