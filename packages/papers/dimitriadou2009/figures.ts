/**
 * Draws figures 2 to 13 of Dimitriadou and Karatza 2009, whose numbers are not printed, and figures for the
 * extensions that the paper's conclusion asks for, as docs/papers/dimitriadou2009.texts.json lists them.
 */
import texts from "../../../docs/papers/dimitriadou2009.texts.json" with { type: "json" };
import type { ReproducedFigure } from "../paper.ts";
import { filled } from "../texts.ts";
import { LOCAL_EVERY_S, STUDIES, type StudyName } from "./cells.ts";
import { MEASURES, type SitesResults } from "./measures.ts";

interface FigureText {
  readonly id: string;
  /** `{study}` stands for the title of the study. */
  readonly title: string;
  readonly yAxis: string;
  readonly study: StudyName;
  /** Of series that name no other measure. */
  readonly measure: keyof typeof MEASURES;
  /** One for each variant, over the arrival rate of local jobs. */
  readonly series: readonly (readonly [name: string, variant: string, measure?: keyof typeof MEASURES])[];
}

export function figures(results: SitesResults): ReproducedFigure[] {
  return (texts.figures as unknown as readonly FigureText[]).map(
    ({ id, title, yAxis, study, measure, series }) => ({
      id,
      title: filled(title, { study: STUDIES[study].title }),
      xAxis: ["four", "sizes", "speeds"].includes(study)
        ? "λ (half of all local jobs per 1/μ)"
        : "λ (local jobs per site and 1/μ)",
      yAxis,
      series: series.map(([name, variant, own = measure]) => ({
        name,
        ours: [...LOCAL_EVERY_S].reverse().map((localEveryS) => {
          const mean = results.mean({ study, variant, localEveryS }, MEASURES[own]);
          return [1 / localEveryS, mean] as const;
        }),
      })),
    }),
  );
}
