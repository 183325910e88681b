/** The colours with which the matrix is drawn. */
import { gangColour, gangRgb } from "../page/gang-colours.ts";
import type { Colours } from "./image.ts";

export interface Ink {
  readonly colours: Colours;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly idle: string;
  readonly back: string;
  readonly accent: string;
  readonly warn: string;
}

/** The page's colours as the browser resolves them, light or dark. */
export function inkOf(canvas: HTMLCanvasElement): Ink {
  const resolved = (name: string) => {
    canvas.style.color = `var(${name})`;
    return getComputedStyle(canvas).color;
  };
  const rgb = (name: string): readonly [number, number, number] => {
    const [red = 0, green = 0, blue = 0] = (resolved(name).match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue];
  };
  const ink = {
    colours: {
      back: rgb("--back"),
      idle: rgb("--idle"),
      more: rgb("--text"),
      ofJob: (job: number) => gangRgb(gangColour(job)),
    },
    text: resolved("--text"),
    muted: resolved("--muted"),
    line: resolved("--line"),
    idle: resolved("--idle"),
    back: resolved("--back"),
    accent: resolved("--accent"),
    warn: resolved("--warn"),
  };
  canvas.style.color = "";
  return ink;
}
