/** What `tutti doctor --on slurm` says about limits of processes. */

import type { ProcessLimit, SiteDiagnosis, StepDiagnosis } from "@tutti/slurm/site-doctor.ts";
import { expect, test } from "vitest";
import { siteAdvice, siteDiagnosisText } from "./site-diagnosis-text.ts";

const STEP: StepDiagnosis = {
  node: "n1",
  processes: { most: null, used: 1 },
  allowedCpus: "0-3",
  controlGroups: false,
  realTime: true,
  startS: 1,
  connectMs: 40,
  roundTripMs: 0.1,
  medianRoundTripMs: 0.2,
  clockOffsetMs: 0,
  stepsAtOnce: 16,
  stepsAsked: 16,
  stepsMs: 90,
};
const SITE: SiteDiagnosis = {
  version: "22.05.8",
  cluster: "site",
  nodes: 100,
  processors: 800,
  otherVersions: [],
  forcedSharing: [],
  mpiTypes: ["none", "pmix"],
  mpiDefault: "none",
  taskPlugin: "task/affinity",
  proctrack: "proctrack/cgroup",
  slurmdTimeout: "300 sec",
  killWait: "30 sec",
  minJobAge: "300 sec",
  users: 100,
  questionsPerS: 3.333,
  accounting: true,
  processes: { most: null, used: 40 },
  step: STEP,
};
const site = (here: ProcessLimit, there: ProcessLimit): SiteDiagnosis => ({
  ...SITE,
  processes: here,
  step: { ...STEP, processes: there },
});
const none: ProcessLimit = { most: null, used: 3 };

test("a limit of processes is named if a pilot on all nodes would meet it", () => {
  // 100 nodes take 600 and 20 on the first node. Here, 17 connections are enough for any number.
  expect(siteAdvice(site({ most: 125, used: 40 }, { most: 630, used: 10 }))).toEqual([]);
  expect(siteAdvice(site(none, none))).toEqual([]);
  expect(siteAdvice(site({ most: 124, used: 40 }, none))).toEqual([
    "your limit of processes on this machine (ulimit -u) is enough for a pilot of 16 nodes: the first 16 take 5 processes each here; stay below with --nodes, or ask for a higher limit",
  ]);
  expect(siteAdvice(site(none, { most: 629, used: 10 }))).toEqual([
    expect.stringContaining("your limit of processes on n1 (ulimit -u) is enough for a pilot of 99 nodes"),
  ]);
  expect(siteAdvice({ ...SITE, step: "no node", processes: { most: 42, used: 40 } })).toContainEqual(
    expect.stringContaining("enough for a pilot of 0 nodes"),
  );
});

test("what the first node spends on a pilot of all nodes, as far as such pilots were tried", () => {
  expect(siteDiagnosisText(SITE, []).replace(/\s+/g, " ")).toContain(
    "pilots up to 1,000 nodes were tried; on 100 nodes, the first one spends 1000 MB on srun for the others",
  );
  expect(siteDiagnosisText({ ...SITE, nodes: 5000 }, []).replace(/\s+/g, " ")).toContain("on 1,000 nodes");
});

test("both limits are shown", () => {
  const text = siteDiagnosisText(site({ most: 4096, used: 40 }, none), []);
  expect(text.replace(/\s+/g, " ")).toContain(
    "processes you may have, threads counted, here at most 4096, 40 in use; on n1 no limit, 3 in use",
  );
});
