/** The page that `bench/web-timeline.ts` drives: a timeline of many jobs that moves with every frame. */
import "@tutti/web/page/style.css";
import { signal } from "@preact/signals";
import type { TimelineData, TimelineJob } from "@tutti/web/timeline/data.ts";
import type { TimelineState } from "@tutti/web/timeline/state.ts";
import { Timeline } from "@tutti/web/timeline/timeline.tsx";
import { render } from "preact";
import type { TimelineBench } from "./timeline-messages.ts";

const data = signal<TimelineData>({ jobs: [], cpus: 1, clock: "elapsed" });
const state = signal<TimelineState>({ rows: "cpus", isCompressed: false, isRelative: false });
let lengthMs = 0;

function Bench() {
  return (
    <Timeline
      data={data.value}
      state={state.value}
      onState={(changes) => {
        state.value = { ...state.peek(), ...changes } as TimelineState;
      }}
      label="Measured"
    />
  );
}

/** Jobs of 1 to 32 CPUs, each as soon as its CPUs are free, from a seed. */
function schedule(count: number, cpus: number): TimelineJob[] {
  let seed = 1;
  const random = (below: number) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const freeFromMs = new Float64Array(cpus);
  return Array.from({ length: count }, (_, i) => {
    const tasks = 1 + random(Math.min(32, cpus));
    const first = random(cpus - tasks + 1);
    let startMs = 0;
    for (let cpu = first; cpu < first + tasks; cpu++) startMs = Math.max(startMs, freeFromMs[cpu]);
    const endMs = startMs + 1000 * (1 + random(600));
    freeFromMs.fill(endMs, first, first + tasks);
    return { job: i + 1, name: `job${i + 1}`, tasks, cpus: [{ first, end: first + tasks }], startMs, endMs };
  });
}

/** Waits until everything that this frame has begun is drawn. */
async function drawn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0));
  // Reading a pixel waits for the picture.
  document
    .querySelector<HTMLCanvasElement>(".timeline-rows canvas")
    ?.getContext("2d")
    ?.getImageData(0, 0, 1, 1);
}

const bench: TimelineBench = {
  show: async (jobs, cpus) => {
    const made = schedule(jobs, cpus);
    lengthMs = made.reduce((last, { endMs = 0 }) => Math.max(last, endMs), 0);
    const beganMs = performance.now();
    data.value = { jobs: made, cpus, clock: "elapsed" };
    await drawn();
    return performance.now() - beganMs;
  },
  measure: async (share, frames) => {
    const times: number[] = [];
    for (let frame = 0; frame < frames; frame++) {
      await new Promise(requestAnimationFrame);
      const beganMs = performance.now();
      const fromMs = ((lengthMs * (1 - share)) / frames) * frame;
      state.value = { ...state.peek(), range: { fromMs, toMs: fromMs + lengthMs * share + frame } };
      await drawn();
      times.push(performance.now() - beganMs);
    }
    return times;
  },
};

(globalThis as unknown as { tuttiTimeline: TimelineBench }).tuttiTimeline = bench;
render(<Bench />, document.getElementById("bench")!);
