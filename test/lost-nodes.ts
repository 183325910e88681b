/**
 * Judges from the events alone whether an attempt was started on a node that had lost an earlier attempt of
 * the same job. Another allocation has other nodes, even if their names are the same.
 */
import type { Event } from "@tutti/protocol/schema.ts";

interface Course {
  /** Nodes of its latest attempt. */
  nodes: readonly string[];
  /** Nodes that were lost while this attempt was on them. */
  readonly lost: Set<string>;
  readonly forbidden: Set<string>;
}

/** @param events in the order of their numbers */
export function returnsToLostNodes(events: readonly Event[]): string[] {
  const problems: string[] = [];
  let courses = new Map<number, Course>();
  let allocation: string | undefined;
  const courseOf = (job: number) => {
    const course = courses.get(job) ?? { nodes: [], lost: new Set(), forbidden: new Set() };
    courses.set(job, course);
    return course;
  };
  for (const { kind, job = 0, data } of events) {
    const text = (field: string) => String(data?.[field] ?? "");
    if (kind === "capacity") {
      // After Slurm has forgotten a job, the next one may have its number.
      if (text("because").startsWith("there is no allocation")) courses = new Map();
      const begun = /^allocation (\S+) has begun$/.exec(text("because"))?.[1] ?? allocation;
      if (begun !== allocation) courses = new Map();
      allocation = begun;
    } else if (kind === "node" && text("rule") === "node-lost") {
      for (const { nodes, lost } of courses.values())
        if (nodes.includes(text("node"))) lost.add(text("node"));
    } else if (kind === "starting") {
      const course = courseOf(job);
      course.nodes = text("nodes")
        .split(" ")
        .map((entry) => entry.split(":")[0]);
      course.lost.clear();
      const again = course.nodes.filter((node) => course.forbidden.has(node));
      if (again.length > 0)
        problems.push(`attempt ${text("attempt")} of job ${job} was started on ${again}, which lost it`);
    } else if (kind === "requeued") {
      const course = courseOf(job);
      // A front end that started while the node was silent has not reported when it was lost.
      const named = /^lost: .*\bnode (\S+) (?:is lost|does not answer)/.exec(text("reason"))?.[1];
      if (named !== undefined) course.forbidden.add(named);
      if (text("reason").startsWith("lost: ")) for (const node of course.lost) course.forbidden.add(node);
      course.nodes = [];
    } else if (kind === "ended") courses.delete(job);
  }
  return problems;
}
