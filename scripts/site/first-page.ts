/** Makes the first page: what Tutti is, a recorded run of a gang policy, links that try it, and all pages. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { escapeHtml } from "@tutti/kernel/core/escape.ts";
import { cellsOf } from "@tutti/lab/experiments/comparison-of.ts";
import { runCells } from "@tutti/lab/experiments/run-cells.ts";
import { type PageExperiment, runnable } from "@tutti/web/lab/experiment.ts";
import { linkText } from "@tutti/web/lab/link.ts";
import { bundled, type PageFiles } from "../build-web.ts";
import { type Entry, linksIn, type SitePage } from "./page.ts";

const source = "packages/web/site/first.html";
const root = fileURLToPath(new URL("../../", import.meta.url));

/** So few that a browser shows the results after a moment. */
const JOBS = 1000;
const OFFERED = experiment(`downey:jobs=${JOBS}`, ["fcfs", "easy", "brmms"]);
/** So few jobs that the recorder keeps the matrix after each decision. */
const PROCESSORS = 32;
const RECORDED = experiment(`downey:jobs=30:processors=${PROCESSORS}`, ["brmms"]);

function experiment(model: string, policies: readonly string[]): PageExperiment {
  return { jobs: { model }, settings: {}, policies, own: "" };
}

/** @param groups pages by heading */
export async function firstPage(
  groups: readonly (readonly [heading: string, pages: readonly Entry[]])[],
): Promise<SitePage> {
  const path = "index.html";
  const lists = groups.map(
    ([heading, pages]) =>
      `<section><h3>${escapeHtml(heading)}</h3><ul>${pages
        .map(([title, target]) => `<li><a href="${target}">${escapeHtml(title)}</a></li>`)
        .join("")}</ul></section>`,
  );
  const values: Readonly<Record<string, string>> = {
    experiment: await runLink(OFFERED, "table"),
    recorded: await runLink(RECORDED, "matrix"),
    jobs: JOBS.toLocaleString("en"),
    policies: `${OFFERED.policies.slice(0, -1).join(", ")} and ${OFFERED.policies.at(-1)}`,
    pages: `<div class="contents">${lists.join("")}</div>`,
  };
  const html = readFileSync(root + source, "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => values[name]);
  return { path, title: "Gang scheduling", html, links: linksIn(html, path, source), script: "first.js" };
}

/** A fragment with which the laboratory opens the experiment, runs it and shows a part of the results. */
async function runLink(of: PageExperiment, tab: string): Promise<string> {
  return `/results?run=1&amp;tab=${tab}&amp;x=${await linkText(of)}`;
}

/** The script of the page, with the run that it plays, and its style. */
export async function firstScript(): Promise<PageFiles> {
  const { experiment, replications } = runnable(RECORDED);
  const { policies } = RECORDED;
  const cells = cellsOf(experiment, { policies, replications, recordMatrix: true });
  const [{ matrix }] = await runCells(cells, { workers: 1 });
  if (matrix === undefined) throw new Error(`Broken invariant: ${policies[0]} has a matrix`);
  const recorded = { processors: PROCESSORS, policy: policies[0], snapshots: matrix.snapshots };
  return bundled(
    { first: "packages/web/site/first.tsx", search: "packages/web/site/search.ts" },
    { define: { "process.env.NODE_ENV": '"production"', TUTTI_RECORDED: JSON.stringify(recorded) } },
  );
}
