/** Turns the policy's layout into the numbered matrices for the executor. */
import type { NodeTable } from "@tutti/kernel/core/machine.ts";
import type { JobRecord } from "../contract/record.ts";
import type { Matrix } from "../executor/executor.ts";
import type { FrontEndParts } from "../front-end-parts.ts";
import type { MatrixRows } from "../scheduling/live-driver.ts";

/** Whether these CPUs are the processors, in any order. */
function hasCpus(table: NodeTable, nodes: JobRecord["nodes"], processors: readonly number[]): boolean {
  const indices = new Set(table.indicesOf(nodes));
  return indices.size === processors.length && processors.every((processor) => indices.has(processor));
}

export class MatrixSender {
  readonly #context: FrontEndParts;
  #sequence: number;
  #sentRows = "";
  /** The last matrix of an earlier front end, until this one has sent its own. */
  #stored: Matrix | undefined;
  /** Values before the cycle, for `rollback`. */
  #before: { readonly sequence: number; readonly sentRows: string } | undefined;

  /** Continues with the matrix that was sent last. */
  constructor(context: FrontEndParts) {
    this.#context = context;
    const stored = context.store.meta("matrix");
    this.#stored = stored === undefined ? undefined : JSON.parse(stored);
    this.#sequence = this.#stored?.sequence ?? 0;
    this.#useStored();
  }

  /** The nodes of a cluster may not be known before the executor has connected. */
  #useStored(): void {
    const stored = this.#stored;
    if (stored === undefined) return;
    this.#context.scheduler.setLayout(this.#layoutOf(stored), stored.fromSlot ?? 0);
  }

  /** Number of the matrix that was sent last. */
  get sequence(): number {
    return this.#sequence;
  }

  /** The executor has connected with this matrix. The next matrix is sent even if it is the same. */
  connected(sequence: number): void {
    this.#remember();
    this.#sequence = Math.max(this.#sequence, sequence);
    this.#sentRows = "";
    this.#useStored();
  }

  /** The next matrix to send, also written to the store; undefined if the executor has it already. */
  next(always: boolean, atMs: number): Matrix | undefined {
    const { store, config, feed, scheduler, book } = this.#context;
    const { slot } = scheduler.layout();
    const placed = this.placements().map((row) =>
      row.flatMap(({ job, nodes }) => {
        const record = book.live(job);
        return record === undefined ? [] : [{ job, attempt: record.attempt, nodes }];
      }),
    );
    const paused = [...book.withProcess()].flatMap(({ state, job, attempt }) =>
      state === "paused" ? [{ job, attempt }] : [],
    );
    const rowsText = JSON.stringify([placed, paused]);
    // With several rows, `fromSlot` changes from decision to decision, so the matrix is always sent.
    if (!always && placed.length <= 1 && rowsText === this.#sentRows) return undefined;
    this.#remember();
    this.#sentRows = rowsText;
    const matrix: Matrix = {
      sequence: ++this.#sequence,
      slotMs: config.slotMs,
      mode: config.mode,
      fromSlot: slot,
      rows: placed,
      ...(paused.length > 0 && { paused }),
    };
    store.setMeta("matrix", JSON.stringify(matrix));
    feed.add("matrix", atMs, undefined, {
      sequence: matrix.sequence,
      fromSlot: slot,
      rows: placed.map((row) => row.map(({ job }) => job)),
    });
    return matrix;
  }

  /** The gangs that are not paused and their CPUs, row by row. */
  placements(): Pick<JobRecord, "job" | "nodes">[][] {
    const { scheduler, book } = this.#context;
    const { machine } = scheduler;
    const table = machine.nodes;
    return scheduler.layout().rows.map((placements) =>
      placements.flatMap(({ job, processors }) => {
        if (book.live(job)?.state === "paused") return [];
        if (machine.movesGangs) return { job, nodes: table.cpusAt(processors) };
        // In another order of the nodes, the gang's first node stays the first.
        const nodes = book.live(job)?.nodes ?? [];
        return { job, nodes: hasCpus(table, nodes, processors) ? nodes : table.cpusAt(processors) };
      }),
    );
  }

  commit(): void {
    this.#before = undefined;
    if (this.#sentRows !== "") this.#stored = undefined;
  }

  rollback(): void {
    if (this.#before === undefined) return;
    this.#sequence = this.#before.sequence;
    this.#sentRows = this.#before.sentRows;
    this.#before = undefined;
  }

  #layoutOf({ rows }: Matrix): MatrixRows {
    const table = this.#context.scheduler.machine.nodes;
    return rows.map((gangs) =>
      gangs
        .map((gang) => ({ job: gang.job, processors: table.indicesOf(gang.nodes) }))
        .filter(({ processors }) => processors.length > 0 && processors.every((processor) => processor >= 0)),
    );
  }

  #remember(): void {
    this.#before ??= { sequence: this.#sequence, sentRows: this.#sentRows };
  }
}
