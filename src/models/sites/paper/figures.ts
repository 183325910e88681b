/** Figures 2 to 13 of Dimitriadou and Karatza 2009, whose numbers are not printed, and figures of what its conclusion asks for. */

import type { ReproducedFigure } from "../../../lab/papers/paper.ts";
import { LOCAL_EVERY_S, STUDIES, type StudyName, type VariantOf } from "./cells.ts";
import { at, MEASURES, type Measure, type SitesResults } from "./measures.ts";

/** One series per variant over the arrival rate of local jobs. */
function figure<S extends StudyName>(
  results: SitesResults,
  id: string,
  title: string,
  yAxis: string,
  study: S,
  series: readonly (readonly [name: string, variant: VariantOf<S>, measure: Measure])[],
): ReproducedFigure {
  return {
    id,
    title,
    xAxis:
      study === "four" || study === "sizes" || study === "speeds"
        ? "λ (half of all local jobs per 1/μ)"
        : "λ (local jobs per site and 1/μ)",
    yAxis,
    series: series.map(([name, variant, measure]) => ({
      name,
      ours: [...LOCAL_EVERY_S]
        .reverse()
        .map((everyS) => [1 / everyS, results.mean(at(study, variant, everyS), measure)] as const),
    })),
  };
}

export function paperFigures(results: SitesResults): ReproducedFigure[] {
  const approaches = (
    id: string,
    title: string,
    yAxis: string,
    study: "uniform" | "powers",
    measure: Measure,
  ) =>
    figure(results, id, title, yAxis, study, [
      ["Approach 1", "one", measure],
      ["Approach 2", "across", measure],
      ["Approach 1, held processors count as idle", "one, held", measure],
      ["Approach 2, held processors count as idle", "across, held", measure],
    ]);
  const errors = (id: string, name: "WRT" | "WSLD" | "RT", approach: "one" | "across") =>
    figure(
      results,
      id,
      `${name} versus λ for uniform gang sizes using approach ${approach === "one" ? 1 : 2}`,
      name === "WSLD" ? name : `${name} (1/μ)`,
      "uniform",
      [
        ["E = 0", approach, MEASURES[name]],
        ["E = 10", `${approach}, E = 10`, MEASURES[name]],
        ["E = 30", `${approach}, E = 30`, MEASURES[name]],
      ],
    );
  const share = "finished gangs (%)";
  return [
    approaches(
      "Figure 2",
      "Percentage of finished gangs versus λ for uniform gang sizes",
      share,
      "uniform",
      MEASURES.finished,
    ),
    approaches(
      "Figure 3",
      "Percentage of finished gangs versus λ for power-of-2 gang sizes",
      share,
      "powers",
      MEASURES.finished,
    ),
    approaches("Figure 4", "WRT versus λ for uniform gang sizes", "WRT (1/μ)", "uniform", MEASURES.WRT),
    approaches("Figure 5", "WSLD versus λ for uniform gang sizes", "WSLD", "uniform", MEASURES.WSLD),
    approaches("Figure 6", "RT versus λ for uniform gang sizes", "RT (1/μ)", "uniform", MEASURES.RT),
    approaches("Figure 7", "SLD versus λ for uniform gang sizes", "SLD", "uniform", MEASURES.SLD),
    errors("Figure 8", "WRT", "one"),
    errors("Figure 9", "WRT", "across"),
    errors("Figure 10", "WSLD", "one"),
    errors("Figure 11", "WSLD", "across"),
    errors("Figure 12", "RT", "one"),
    errors("Figure 13", "RT", "across"),
  ];
}

/** What the paper's conclusion asks for, and what its rules are worth. */
export function extensionFigures(results: SitesResults): ReproducedFigure[] {
  const { WRT, RT, finished } = MEASURES;
  const critical: Measure = (n) => n.critical.weightedResponseS;
  return [
    figure(results, "Rules, local jobs", "RT of approach 1 as its rules vary", "RT (1/μ)", "rules", [
      ["E = 0, T = 0", "one", RT],
      ["E = 30", "one, E = 30", RT],
      ["E = 30, remaining times predicted", "one, E = 30, remaining times predicted", RT],
      ["T = 0.5", "one, T = 0.5", RT],
      ["oldest gang first", "one, oldest gang first", RT],
      ["no backfilling", "one, no backfilling", RT],
    ]),
    figure(results, "Rules, gangs", "WRT of approach 1 as its rules vary", "WRT (1/μ)", "rules", [
      ["E = 0, T = 0", "one", WRT],
      ["E = 30", "one, E = 30", WRT],
      ["E = 30, remaining times predicted", "one, E = 30, remaining times predicted", WRT],
      ["T = 0.5", "one, T = 0.5", WRT],
      ["oldest gang first", "one, oldest gang first", WRT],
      ["no backfilling", "one, no backfilling", WRT],
    ]),
    figure(
      results,
      "Critical gangs",
      `WRT of critical and of all gangs; ${STUDIES.critical.title}`,
      "WRT (1/μ)",
      "critical",
      [
        ["critical, treated like others", "one", critical],
        ["critical, ahead, approach 1", "one, critical ahead", critical],
        ["critical, ahead, approach 2", "across, critical ahead", critical],
        ["all, treated like others", "one", WRT],
        ["all, critical ahead, approach 1", "one, critical ahead", WRT],
      ],
    ),
    figure(results, "Speeds", `WRT; ${STUDIES.speeds.title}`, "WRT (1/μ)", "speeds", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
      ["Approach 1, fastest site", "one, fastest site", WRT],
    ]),
    figure(results, "Sizes", `WRT; ${STUDIES.sizes.title}`, "WRT (1/μ)", "sizes", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
    ]),
    figure(
      results,
      "Four sites",
      `Percentage of finished gangs; ${STUDIES.four.title}`,
      "finished gangs (%)",
      "four",
      [
        ["Approach 1", "one", finished],
        ["Approach 2", "across", finished],
      ],
    ),
  ];
}
