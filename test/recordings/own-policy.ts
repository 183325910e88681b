// A policy of your own: `tutti simulate trace.swf.gz --policy ./examples/my-policy.ts:reserve=8`.
// It starts jobs in order of arrival, but keeps some processors free for jobs that take no more than that.

import type { JobIndex, JobsView, ParameterValues, Policy, Pool } from "tutti";
import { definePolicy } from "tutti";

class KeepSomeFree implements Policy {
  waiting: JobIndex[] = [];
  pool: Pool;
  jobs: JobsView;
  reserve: number;

  constructor(pool: Pool, jobs: JobsView, parameters: ParameterValues) {
    this.pool = pool;
    this.jobs = jobs;
    this.reserve = Math.min(Number(parameters.reserve), pool.processors - 1);
  }

  depart() {}
  decide(arrived: readonly JobIndex[]) {
    this.waiting = [...this.waiting, ...arrived].filter((job) => {
      const size = this.jobs.size[job];
      const kept = size <= this.reserve || this.pool.free === this.pool.processors ? 0 : this.reserve;
      if (size > this.pool.free - kept) return true; // waits on
      this.pool.start(job); // counted as "policy's own rule"
      return false;
    });
  }
}

export default definePolicy({
  name: "keep-some-free",
  sharing: "space",
  parameters: [{ name: "reserve", kind: "integer", min: 0, max: 1e6, default: 8, description: "kept free" }],
  make: (pool, jobs, parameters) => new KeepSomeFree(pool, jobs, parameters),
});
