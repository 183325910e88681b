/** The papers that the page shows, and the tables of them that it has computed. */
import { signal } from "@preact/signals";
import { messageOf } from "@tutti/kernel/core/errors.ts";
import type { PrintedTable } from "@tutti/lab/report/printed-table.ts";
import { trustedUrl } from "../page/trusted.ts";
import { Cancelled } from "./cancelled.ts";
import { LabPool, LabWorker } from "./lab-workers.ts";
import { partUrl } from "./scripts.ts";
import type { ShownPaper, TableName } from "./worker/papers.ts";

type TableRun =
  | { readonly state: "running"; readonly done: number; readonly of: number; readonly fromMs: number }
  | { readonly state: "done"; readonly table: PrintedTable; readonly ms: number }
  | { readonly state: "failed"; readonly message: string };

/** Undefined until a worker has sent them; a text if it could not. */
export const papers = signal<readonly ShownPaper[] | string | undefined>(undefined);
const runs = signal<ReadonlyMap<string, TableRun>>(new Map());
/** The table that is being computed; one at a time has all workers. */
export const running = signal<TableName | undefined>(undefined);

const pool = new LabPool();

export function runOf(name: TableName): TableRun | undefined {
  return runs.value.get(keyOf(name));
}

export async function loadPapers(): Promise<void> {
  if (Array.isArray(papers.peek())) return;
  const worker = new LabWorker();
  try {
    papers.value = await worker.ask("papers", { packed: await packedPapers() });
  } catch (error) {
    papers.value = messageOf(error);
  } finally {
    worker.end();
  }
}

/** A script of their own has them, which sends them: the page may not request anything else. */
async function packedPapers(): Promise<string> {
  const worker = new Worker(trustedUrl(await partUrl("papers")));
  try {
    return await new Promise((resolve, reject) => {
      worker.onerror = () => reject(new Error("Cannot load the papers: the page has no file papers.js"));
      worker.onmessage = ({ data }: MessageEvent<string>) => resolve(data);
    });
  } finally {
    worker.terminate();
  }
}

export async function runTable(name: TableName): Promise<void> {
  if (running.peek() !== undefined) return;
  running.value = name;
  const fromMs = performance.now();
  set(name, { state: "running", done: 0, of: 0, fromMs });
  try {
    const table = await pool.runTable(name, (done, of) => set(name, { state: "running", done, of, fromMs }));
    set(name, { state: "done", table, ms: performance.now() - fromMs });
  } catch (error) {
    const message = messageOf(error);
    set(name, error instanceof Cancelled ? undefined : { state: "failed", message });
  } finally {
    running.value = undefined;
  }
}

export function cancelTable(): void {
  pool.cancel();
}

function set(name: TableName, run: TableRun | undefined): void {
  const next = new Map(runs.peek());
  if (run === undefined) next.delete(keyOf(name));
  else next.set(keyOf(name), run);
  runs.value = next;
}

function keyOf({ paper, table }: TableName): string {
  return `${paper} ${table}`;
}
