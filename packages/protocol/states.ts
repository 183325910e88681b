/** Lists the states of a job. daemon/contract/record.ts has a drawing of the transitions. */

export const ACTIVE_STATES = ["queued", "held", "starting", "running", "paused", "ending"] as const;
export const ENDED_STATES = ["done", "failed", "cancelled"] as const;
export const JOB_STATES = [...ACTIVE_STATES, ...ENDED_STATES] as const;

export type JobState = (typeof JOB_STATES)[number];

export function isEnded(state: JobState): boolean {
  return (ENDED_STATES as readonly JobState[]).includes(state);
}

/** Whether the job has a process, or will have one as soon as the conductor receives its launch. */
export function hasProcess(state: JobState): boolean {
  return state === "starting" || state === "running" || state === "paused" || state === "ending";
}

/** What a user may do to a job, with the states in which it has an effect. */
export const CHANGEABLE_STATES = {
  cancel: ACTIVE_STATES,
  hold: ["queued"],
  release: ["held"],
  requeue: ["starting", "running", "paused"],
  pause: ["starting", "running"],
  resume: ["paused"],
  signal: ["running"],
  priority: ["queued", "held"],
  update: ["queued", "held", "starting", "running"],
} as const satisfies Readonly<Record<string, readonly JobState[]>>;
