/**
 * Writes results as JSON. Every document begins with the name and version of its schema. Within a version,
 * keys are only added. The order of the keys is fixed. Missing values (NaN) are null.
 */
import type { Comparison } from "../../results/comparison.ts";

/** The document with the schema's name first, indented by two spaces, with a newline at the end. */
export function jsonDocument(schema: string, content: object): string {
  return `${JSON.stringify({ schema, ...content }, plainValues, 2)}\n`;
}

/** A comparison without its schedules: what was simulated, under which rules, and every number. */
export function comparisonJson(comparison: Comparison): string {
  const { instance, workloadHash, seed, rules, made, policies } = comparison;
  return jsonDocument("tutti.comparison/1", {
    made,
    workload: {
      name: instance.workload.name,
      hash: workloadHash,
      jobs: instance.count,
      processors: instance.processors,
      diagnostics: [...instance.workload.diagnostics, ...instance.diagnostics],
    },
    seed,
    rules,
    policies: policies.map(
      ({ label, title, rules, summary, scheduleHash, verdict, replications, replicationHashes }) => ({
        label,
        title,
        rules,
        scheduleHash,
        summary,
        ...(verdict !== undefined && { verdict }),
        replications,
        replicationHashes,
      }),
    ),
  });
}

function plainValues(_key: string, value: unknown): unknown {
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
}
