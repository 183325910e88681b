/**
 * Draws figures 2 to 13 of Dimitriadou and Karatza 2009, whose numbers are not printed, and figures for the
 * extensions that the paper's conclusion asks for.
 */

import type { ReproducedFigure } from "../paper.ts";
import { LOCAL_EVERY_S, STUDIES, type StudyName, type VariantOf } from "./cells.ts";
import { at, MEASURES, type Measure, type SitesResults } from "./measures.ts";

/** Measures of the figures, with the titles of their axes. */
const AXES = {
  finished: "finished gangs (%)",
  WRT: "WRT (1/μ)",
  WSLD: "WSLD",
  RT: "RT (1/μ)",
  SLD: "SLD",
} as const;
type Name = keyof typeof AXES;

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
  const approaches = (number: number, name: Name, study: "uniform" | "powers" = "uniform") => {
    const measure = MEASURES[name];
    const what = name === "finished" ? "Percentage of finished gangs" : name;
    const title = `${what} versus λ for ${study === "uniform" ? "uniform" : "power-of-2"} gang sizes`;
    return figure(results, `Figure ${number}`, title, AXES[name], study, [
      ["Approach 1, idle=held", "one, held", measure],
      ["Approach 2, idle=held", "across, held", measure],
      ["Approach 1, idle=free", "one", measure],
      ["Approach 2, idle=free", "across", measure],
    ]);
  };
  const errors = (number: number, name: Name, approach: "one" | "across") => {
    const title = `${name} versus λ for uniform gang sizes using approach ${approach === "one" ? 1 : 2}`;
    return figure(results, `Figure ${number}`, title, AXES[name], "uniform", [
      ["E = 0, idle=held", `${approach}, held`, MEASURES[name]],
      ["E = 10, idle=held", `${approach}, held, E = 10`, MEASURES[name]],
      ["E = 30, idle=held", `${approach}, held, E = 30`, MEASURES[name]],
      ["E = 0, idle=free", approach, MEASURES[name]],
      ["E = 10, idle=free", `${approach}, E = 10`, MEASURES[name]],
      ["E = 30, idle=free", `${approach}, E = 30`, MEASURES[name]],
    ]);
  };
  return [
    approaches(2, "finished"),
    approaches(3, "finished", "powers"),
    ...(["WRT", "WSLD", "RT", "SLD"] as const).map((name, i) => approaches(4 + i, name)),
    ...(["WRT", "WSLD", "RT"] as const).flatMap((name, i) => [
      errors(8 + 2 * i, name, "one"),
      errors(9 + 2 * i, name, "across"),
    ]),
  ];
}

/** The extensions that the paper's conclusion asks for, and what its rules are worth. */
export function extensionFigures(results: SitesResults): ReproducedFigure[] {
  const { WRT, finished } = MEASURES;
  const critical: Measure = (n) => n.critical.weightedResponseS;
  const rules = (whose: string, name: "RT" | "WRT") => {
    const title = `${name} of approach 1 as its rules vary`;
    return figure(results, `Rules, ${whose}`, title, AXES[name], "rules", [
      ["E = 0, T = 0", "one", MEASURES[name]],
      ["E = 30", "one, E = 30", MEASURES[name]],
      ["E = 30, remaining times predicted", "one, E = 30, remaining times predicted", MEASURES[name]],
      ["T = 0.5", "one, T = 0.5", MEASURES[name]],
      ["oldest gang first", "one, oldest gang first", MEASURES[name]],
      ["no backfilling", "one, no backfilling", MEASURES[name]],
    ]);
  };
  const ofCritical = `WRT of critical and of all gangs; ${STUDIES.critical.title}`;
  const ofFour = `Percentage of finished gangs; ${STUDIES.four.title}`;
  return [
    rules("local jobs", "RT"),
    rules("gangs", "WRT"),
    figure(results, "Critical gangs", ofCritical, AXES.WRT, "critical", [
      ["critical, treated like others", "one", critical],
      ["critical, ahead, approach 1", "one, critical ahead", critical],
      ["critical, ahead, approach 2", "across, critical ahead", critical],
      ["all, treated like others", "one", WRT],
      ["all, critical ahead, approach 1", "one, critical ahead", WRT],
    ]),
    figure(results, "Speeds", `WRT; ${STUDIES.speeds.title}`, AXES.WRT, "speeds", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
      ["Approach 1, fastest site", "one, fastest site", WRT],
    ]),
    figure(results, "Sizes", `WRT; ${STUDIES.sizes.title}`, AXES.WRT, "sizes", [
      ["Approach 1", "one", WRT],
      ["Approach 2", "across", WRT],
    ]),
    figure(results, "Four sites", ofFour, AXES.finished, "four", [
      ["Approach 1", "one", finished],
      ["Approach 2", "across", finished],
    ]),
  ];
}
