/** The laboratory's worker: reads traces, generates jobs, runs cells and explains jobs. */
import { InputError, RuleViolation } from "@tutti/kernel/core/errors.ts";
import type { Workload } from "@tutti/kernel/core/jobs.ts";
import { hashWorkload } from "@tutti/kernel/workload/hash.ts";
import { requireJobs } from "@tutti/kernel/workload/traces/swf-rules.ts";
import type { Failure, OpenedJobs, Question, Reply } from "./messages.ts";
import { generateModel } from "./model-limit.ts";
import { hashOfFile, readTraceFile } from "./worker/open-trace.ts";
import { buffersOf, pack } from "./worker/packed.ts";
import { cellsOfTable, runPaperCell, shownPapers, tableOf } from "./worker/papers.ts";
import { dealCell, explainJob, type KnownJobs, runCell } from "./worker/run-cell.ts";

let known: KnownJobs | undefined;

function reply(message: Reply, transfer: Transferable[] = []): void {
  postMessage(message, { transfer });
}

async function answer(question: Question): Promise<void> {
  switch (question.topic) {
    case "read": {
      const { file, sizeFrom } = question;
      const fromMs = performance.now();
      const workload = await readTraceFile(file, sizeFrom, {
        progress: (read, of) => reply({ progress: { share: read / of } }),
        beginning: ({ jobs: { submitS, runS, size } }) =>
          reply({ progress: { beginning: { submitS, runS, size } } }),
      });
      const ms = performance.now() - fromMs;
      return send(workload, ms, await hashOfFile(file));
    }
    case "generate": {
      const fromMs = performance.now();
      const workload = requireJobs(generateModel(question.model, question.seed));
      return send(workload, performance.now() - fromMs, undefined);
    }
    case "jobs":
      known = question;
      return reply({ answer: true });
    case "run": {
      let nextMs = 0;
      const answer = await runCell(known, question.cell, (arrived, of) => {
        const nowMs = performance.now();
        if (nowMs < nextMs) return;
        nextMs = nowMs + PROGRESS_MS;
        reply({ progress: { share: arrived / of } });
      });
      const { result, schedule, curves } = answer;
      const columns = [result.packed, schedule, pack(curves)].flatMap(buffersOf);
      return reply({ answer }, [...new Set(columns)]);
    }
    case "deal": {
      const answer = await dealCell(known, question.cell, question.schedule);
      return reply({ answer }, buffersOf(pack(answer)));
    }
    case "papers":
      return reply({ answer: shownPapers(question.packed) });
    case "table-cells":
      return reply({ answer: cellsOfTable(question) });
    case "paper-cell":
      return reply({ answer: await runPaperCell(question.cell) });
    case "table":
      return reply({ answer: tableOf(question.name, question.results) });
    case "explain":
      return reply({ answer: await explainJob(known, question.cell, question.job) });
  }
}

/** Progress is reported at most this often. */
const PROGRESS_MS = 100;

function send(workload: Workload, ms: number, sha256: string | undefined): void {
  const opened: OpenedJobs = { workload, hash: hashWorkload(workload), sha256, ms };
  const columns = [...Object.values(workload.jobs), ...Object.values(workload.trace ?? {})];
  reply({ answer: opened }, [...new Set(columns.map(({ buffer }) => buffer))]);
}

function failureOf(error: unknown): Failure {
  const isInput = error instanceof InputError || error instanceof RuleViolation;
  if (isInput) return { message: error.message, isInput };
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  // What V8 says when an array or a string cannot have the size that the input needs.
  if (/allocation|Invalid (?:array|string|typed array) length/i.test(text)) {
    return {
      message: `Cannot use these jobs in a page: it has not enough memory for them (${text}), expected fewer jobs; \`tutti compare\` on the command line has no such limit`,
      isInput: true,
    };
  }
  return { message: text, isInput };
}

let queue = Promise.resolve();
addEventListener("message", ({ data }: MessageEvent<Question>) => {
  queue = queue.then(() => answer(data)).catch((error) => reply({ failure: failureOf(error) }));
});
