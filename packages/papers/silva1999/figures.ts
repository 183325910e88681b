/** Idle times of Silva and Scherson 1999 over the run, and figures about what the paper leaves open. */
import type { ReproducedFigure } from "../paper.ts";
import { type SilvaResults, STUDIES, type StudyName } from "./cells.ts";
import { mean } from "./claims.ts";
import { PUBLISHED, SCHEDULERS, type SchedulerName, timesS, WORKLOADS } from "./published.ts";
import type { Series } from "./run.ts";

export const SCHEDULER_TITLES: Readonly<Record<SchedulerName, string>> = {
  gang: "gang",
  concurrent: "Concurrent Gang",
};

export function idleFigures(results: SilvaResults): ReproducedFigure[] {
  return WORKLOADS.map((workload, i) => ({
    id: `Figure A${i + 1}`,
    title: `${workload} workload: idle time over the run (tables ${2 * i + 1} and ${2 * i + 2})`,
    xAxis: "simulation time (s)",
    yAxis: "total idle time (%)",
    series: SCHEDULERS.map((scheduler) => ({
      name: SCHEDULER_TITLES[scheduler],
      ours: timesS(workload).map((timeS, row) => {
        const runs = results.values({ of: workload, scheduler }, (run) => run.idlePercent[row]);
        return [timeS, mean(runs)] as const;
      }),
      published: PUBLISHED.filter(
        (table) => table.workload === workload && table.scheduler === scheduler,
      ).flatMap(({ timesS: times, idlePercent }) =>
        times.map((timeS, row) => [timeS, idlePercent[row]] as const),
      ),
    })),
  }));
}

const STUDY_AXES = [
  { name: "idle time at the end (%)", of: (series: Series) => series.idlePercent.at(-1)! },
  { name: "jobs completed", of: (series: Series) => series.jobs.at(-1)! },
] as const;

export function studyFigures(results: SilvaResults): ReproducedFigure[] {
  return (Object.keys(STUDIES) as StudyName[]).flatMap((study, i) => {
    const { workload, title, unit, values } = STUDIES[study];
    const xAxis = unit === "" ? title : `${title} (${unit})`;
    return STUDY_AXES.map(({ name, of }, axis) => ({
      id: `Figure B${i + 1}${"ab"[axis]}`,
      title: `${workload} workload: ${name} by ${title}`,
      xAxis,
      yAxis: name,
      series: SCHEDULERS.map((scheduler) => ({
        name: SCHEDULER_TITLES[scheduler],
        ours: values.map(
          (value) => [value, mean(results.values({ of: study, value, scheduler }, of))] as const,
        ),
      })),
    }));
  });
}
