/**
 * Draws static figures as SVG, such as those of a paper: our values as solid lines, the published ones dashed
 * in the same colour, or groups of bars if the x axis has names.
 */

import { escapeHtml, withoutControls } from "@tutti/kernel/core/escape.ts";
import { formatNumber } from "@tutti/kernel/core/format.ts";
import type { ReproducedFigure } from "../../results/reproduction.ts";
import { axesSvg, logarithmicScale, type Plot, placeIn, px, roundScale, scale } from "./chart.ts";
import { colourOf, LIGHT } from "./palette.ts";

/** Colours and sizes of a figure on a white background. */
const FILE = {
  width: 720,
  height: 460,
  text: "#16202b",
  muted: "#566373",
  line: "#dde2e8",
  ground: "#ffffff",
  series: LIGHT.series,
  /** Title and legend are part of the picture. */
  isComplete: true,
};

type Look = typeof FILE;

/**
 * Colours and sizes of a figure in a page. The colours are those of the page, so that light and dark follow
 * the reader.
 */
const INLINE: Look = {
  width: 460,
  height: 290,
  text: "var(--text)",
  muted: "var(--muted)",
  line: "var(--line)",
  ground: "var(--surface)",
  series: LIGHT.series.map((_, i) => `var(--series-${i})`),
  isComplete: false,
};

const DASH = "6,4";
/** The title of a file's figure, in pixels. A character of this bold font is at most about `charWidth`. */
const TITLE = { left: 16, fontSize: 16, charWidth: 9.2, lineHeight: 20 };
/** Shares of a group's room: between groups, and between two bars of the width of a bar. */
const GROUP_GAP = 0.2;
const BAR_GAP = 0.06;
const LEGEND = { markPx: 34, rowPx: 21 };

type Mark = "line" | "published" | "bar";

/** A line, or the bars of one colour. */
interface Drawn {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
  /** Decides colour and symbol. */
  readonly series: number;
  readonly mark: Mark;
}

/** The figure as an SVG document on a white background. The same figure gives the same bytes. */
export function lineFigureSvg(figure: ReproducedFigure): string {
  return `${draw(figure, FILE, ' xmlns="http://www.w3.org/2000/svg"')}\n`;
}

/** The figure without title and legend, for a page with the report's style sheet. */
export function inlineFigureSvg(figure: ReproducedFigure): string {
  return draw(figure, INLINE, "");
}

/** The mark of a series as `inlineFigureSvg` draws it, for a legend. */
export function legendMark(series: number, mark: Mark): string {
  return `<svg class="mark" viewBox="0 0 34 12" aria-hidden="true">${markSvg(series, mark, INLINE, 0, 6)}</svg>`;
}

/** The figure's number in the paper and its title. */
export function figureTitle({ id, title }: Pick<ReproducedFigure, "id" | "title">): string {
  return `${id}. ${title}`;
}

function draw(figure: ReproducedFigure, look: Look, attributes: string): string {
  const { xAxis, yAxis, categories, yScale = "linear" } = figure;
  const { width, height, muted, ground, isComplete } = look;
  const lines = isComplete ? titleLines(figure) : [];
  const top = lines.length * TITLE.lineHeight;
  const plot: Plot = isComplete
    ? { left: 72, right: width - 200, top: 36 + top, bottom: height - 56 }
    : { left: 66, right: width - 14, top: 12, bottom: height - 50 };
  const isLogarithmic = yScale === "log";
  // A logarithmic axis cannot show values of 0.
  const drawn = drawnOf(figure).map((one) => ({
    ...one,
    points: one.points.filter(([, y]) => Number.isFinite(y) && (y > 0 || !isLogarithmic)),
  }));
  const points = drawn.flatMap((one) => one.points);
  const heights = points.map(([, y]) => y);
  const x = {
    name: xAxis,
    nameGap: 40,
    ...(categories === undefined
      ? { scale: roundScale(points.map(([at]) => at)), text: tickText }
      : {
          scale: scale(
            0.5,
            categories.length + 0.5,
            categories.map((_, i) => i + 1),
          ),
          text: (at: number) => categories[at - 1],
          isNames: true,
        }),
  };
  const y = {
    name: yAxis,
    nameGap: isComplete ? 56 : 52,
    // The end of a bar says something only with its beginning: the same for all figures, 0 or at most 1.
    scale: isLogarithmic
      ? logarithmicScale(categories === undefined ? heights : [1, ...heights])
      : roundScale([0, ...heights]),
    text: tickText,
  };
  const place = placeIn(plot, x.scale, y.scale);
  const content =
    categories === undefined
      ? drawn.flatMap((one) => lineSvg(one, place, look))
      : drawn.flatMap((one, i) =>
          barsSvg(one, i, drawn.length, (plot.right - plot.left) / categories.length, place, plot, look),
        );
  return [
    `<svg role="img" aria-label="${escapeHtml(figureTitle(figure))}" width="${width}" height="${height}"${attributes} viewBox="0 0 ${width} ${height}" font-family="system-ui, Segoe UI, Roboto, Liberation Sans, Arial, sans-serif" font-size="12">`,
    ...(isComplete ? [`<rect width="${width}" height="${height}" fill="${ground}"/>`] : []),
    ...axesSvg(plot, x, y, { muted, line: look.line }),
    ...content,
    ...(isComplete ? [...titleSvg(lines, look), ...legendSvg(drawn, plot, look)] : []),
    "</svg>",
  ].join("\n");
}

function drawnOf({ series, categories }: ReproducedFigure): Drawn[] {
  return series.flatMap(({ name, ours, published }, i): Drawn[] => {
    if (categories !== undefined) return [{ name, points: ours, series: i, mark: "bar" }];
    const own: Drawn = { name, points: ours, series: i, mark: "line" };
    if (published === undefined) return [own];
    return [own, { name: `${name}, published`, points: published, series: i, mark: "published" }];
  });
}

type Place = ReturnType<typeof placeIn>;

function lineSvg({ points, series, mark }: Drawn, place: Place, look: Look): string[] {
  const at = points.map(([x, y]) => [place.x(x), place.y(y)] as const);
  const { stroke, symbol } = styleOf(series, mark, look);
  return [
    `<path d="${at.map(([x, y], i) => `${i === 0 ? "M" : "L"}${px(x)} ${px(y)}`).join("")}" ${stroke} stroke-linejoin="bevel"/>`,
    ...at.map(([x, y]) => symbol(x, y)),
  ];
}

/** A category without a point has no bar. */
function barsSvg(
  { points, series }: Drawn,
  index: number,
  bars: number,
  room: number,
  place: Place,
  { bottom }: Plot,
  look: Look,
): string[] {
  const width = ((1 - GROUP_GAP) * room) / (bars + BAR_GAP * (bars - 1));
  const offset = (-(1 - GROUP_GAP) * room) / 2 + index * width * (1 + BAR_GAP);
  const colour = colourOf(look, series);
  return points.map(([x, y]) => {
    const top = place.y(y);
    return `<rect x="${px(place.x(x) + offset)}" y="${px(top)}" width="${px(width)}" height="${px(bottom - top)}" fill="${colour}"/>`;
  });
}

/** How a line is drawn, and the symbol at its points: filled, or empty if the values are published. */
function styleOf(series: number, mark: Mark, look: Look) {
  const colour = colourOf(look, series);
  const isPublished = mark === "published";
  const fill = `fill="${isPublished ? look.ground : colour}" stroke="${colour}" stroke-width="${isPublished ? 2 : 1}"`;
  const symbols: readonly ((x: number, y: number) => string)[] = [
    (x, y) => `<circle cx="${px(x)}" cy="${px(y)}" r="3" ${fill}/>`,
    (x, y) => `<rect x="${px(x - 3)}" y="${px(y - 3)}" width="6" height="6" ${fill}/>`,
    (x, y) => `<path d="M${px(x)} ${px(y - 3.5)}l3.5 6.5h-7Z" ${fill}/>`,
    (x, y) => `<path d="M${px(x)} ${px(y - 4)}l3.5 4l-3.5 4l-3.5 -4Z" ${fill}/>`,
  ];
  return {
    stroke: `fill="none" stroke="${colour}" stroke-width="${isPublished ? 1.5 : 2}"${isPublished ? ` stroke-dasharray="${DASH}"` : ""}`,
    symbol: symbols[series % symbols.length],
  };
}

/** A mark of a legend, from `x` on, around the height `y`. */
function markSvg(series: number, mark: Mark, look: Look, x: number, y: number): string {
  const middle = x + LEGEND.markPx / 2;
  if (mark === "bar")
    return `<rect x="${middle - 8}" y="${y - 5}" width="16" height="10" fill="${colourOf(look, series)}"/>`;
  const { stroke, symbol } = styleOf(series, mark, look);
  return `<path d="M${x + 1} ${y}h${LEGEND.markPx - 2}" ${stroke}/>${symbol(middle, y)}`;
}

/** At the right of the plot, a line for each series. */
function legendSvg(drawn: readonly Drawn[], { right, top }: Plot, look: Look): string[] {
  const x = right + 4;
  return drawn.map(({ name, series, mark }, i) => {
    const y = top + 4 + i * LEGEND.rowPx;
    return `${markSvg(series, mark, look, x, y)}<text x="${x + LEGEND.markPx + 4}" y="${y + 4}" fill="${look.text}">${escapeHtml(name)}</text>`;
  });
}

function titleSvg(lines: readonly string[], { text }: Look): string[] {
  return lines.map(
    (line, i) =>
      `<text x="${TITLE.left}" y="${30 + i * TITLE.lineHeight}" font-size="${TITLE.fontSize}" font-weight="bold" fill="${text}">${escapeHtml(line)}</text>`,
  );
}

/** Breaks the title between words, because without a screen no text can be measured. */
function titleLines(figure: ReproducedFigure): string[] {
  const maxLength = (FILE.width - 2 * TITLE.left) / TITLE.charWidth;
  const lines: string[] = [];
  for (const word of withoutControls(figureTitle(figure)).split(" ")) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > maxLength) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

function tickText(value: number): string {
  return Math.abs(value) >= 1000 ? formatNumber(value) : String(Number(value.toPrecision(4)));
}
