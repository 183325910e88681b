/**
 * Shows a policy what it may see of an instance: the jobs that have arrived, without any reference to run
 * times or future jobs.
 */
import type { Instance, JobIndex } from "../core/jobs.ts";
import { type JobDetails, JobTable } from "../machines/job-table.ts";

export class VisibleJobs {
  /** The table that the policy gets. */
  readonly table: JobTable;
  readonly #instance: Instance;
  readonly #size: Int32Array;
  readonly #submitS: Float64Array;
  readonly #estimateS: Float64Array;
  /** Jobs 0 … count − 1 have arrived. */
  #count = 0;

  constructor(instance: Instance) {
    const { size, submitS, estimateS, shape, memoryKB, demand, molding, workload } = instance;
    this.#instance = instance;
    this.#size = size;
    this.#submitS = submitS;
    this.#estimateS = estimateS;
    this.table = new JobTable(
      {
        shape: shape !== undefined,
        // Whether there is a column must not tell whether a job with memory will come.
        memory: memoryKB !== undefined || workload.trace !== undefined,
        origin: workload.trace !== undefined,
        kinds: demand?.length,
        molding: molding !== undefined,
      },
      (details) => {
        for (let job = 0; job < this.#count; job++) this.#addDetails(details, job);
      },
    );
  }

  /** The next job arrives. */
  add(): void {
    this.refresh(this.#count++);
  }

  /** The instance has other values for the job now. A job that has not arrived stays unknown. */
  refresh(job: JobIndex): void {
    if (job >= this.#count) return;
    const { table } = this;
    const details = table.reserve(job);
    table.size[job] = this.#size[job];
    table.submitS[job] = this.#submitS[job];
    table.estimateS[job] = this.#estimateS[job];
    if (details !== undefined) this.#addDetails(details, job);
  }

  /** The job gets another size. */
  mold(job: JobIndex, size: number, factor: number): void {
    this.table.size[job] = size;
    this.table.estimateS[job] *= factor;
  }

  /** A job that was stopped arrives again. It keeps the size that it has. */
  addAgain(job: JobIndex, estimateS: number): void {
    const { size, molding } = this.table;
    this.table.estimateS[job] = estimateS;
    if (molding !== undefined) molding.minSize[job] = molding.maxSize[job] = size[job];
  }

  #addDetails(details: JobDetails, job: JobIndex): void {
    const { memoryKB, shape, demand, molding, workloadRow, workload } = this.#instance;
    if (molding !== undefined && details.molding !== undefined) {
      details.molding.minSize[job] = molding.minSize[job];
      details.molding.maxSize[job] = molding.maxSize[job];
      details.molding.serialShare[job] = molding.serialShare[job];
    }
    for (let k = 0; k < details.demand.length; k++) details.demand[k][job] = demand![k][job];
    if (memoryKB !== undefined && details.memoryKB !== undefined) details.memoryKB[job] = memoryKB[job];
    if (shape !== undefined && details.shape !== undefined) {
      details.shape.processes[job] = shape.processes[job];
      details.shape.threads[job] = shape.threads[job];
      details.shape.queue[job] = shape.queue[job];
    }
    const { origin } = details;
    if (workload.trace === undefined || origin === undefined) return;
    const { user, group, queue, application } = workload.trace;
    const row = workloadRow === undefined ? job : workloadRow[job];
    origin.user[job] = user[row];
    origin.group[job] = group[row];
    origin.queue[job] = queue[row];
    origin.application[job] = application[row];
  }
}
