/** Says how much of a machine the jobs of a user, a group and a queue may use at once. */
export interface RunLimits {
  /** Processors of the jobs that run at once. */
  readonly runningCpus?: number | undefined;
  /** Jobs that run at once. */
  readonly runningJobs?: number | undefined;
}

/** Limits on each user, and on single users, groups and queues by name. */
export interface LimitSettings extends RunLimits {
  /** What is left out is as for each user. */
  readonly users?: Readonly<Record<string, RunLimits>> | undefined;
  readonly groups?: Readonly<Record<string, RunLimits & { readonly users: readonly string[] }>> | undefined;
  readonly queues?: Readonly<Record<string, RunLimits>> | undefined;
}

/** What a source of jobs says about limits. */
export interface WorkloadLimits extends LimitSettings {
  /** By row, for how many processors a job counts; left out: for its size. */
  readonly cpus?: Int32Array | undefined;
  /** By row, 1 if the job may start although limits are exceeded: it ran before time 0, for example. */
  readonly isThrough?: Uint8Array | undefined;
}

/** The limits of a job with a key for each, from the narrowest to the widest. */
export function limitsFor(
  { users, groups = {}, queues, runningCpus, runningJobs }: LimitSettings,
  user: string | undefined,
  queue: string | undefined,
): (readonly [key: string, limit: RunLimits])[] {
  const limits: [string, RunLimits | undefined][] = [];
  if (user !== undefined) {
    limits.push([`user ${user}`, { runningCpus, runningJobs, ...named(users, user) }]);
    for (const [name, group] of Object.entries(groups))
      if (group.users.includes(user)) limits.push([`group ${name}`, group]);
  }
  if (queue !== undefined) limits.push([`queue ${queue}`, named(queues, queue)]);
  return limits.filter(
    (entry): entry is [string, RunLimits] =>
      entry[1]?.runningCpus !== undefined || entry[1]?.runningJobs !== undefined,
  );
}

function named<Value>(values: Readonly<Record<string, Value>> = {}, name: string): Value | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}
