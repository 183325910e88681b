/**
 * Reads the configuration file: JSON, or TOML in a file named .toml. Every field is checked. For an unknown
 * field, the message suggests the closest known one. The schema is in protocol/config.ts, a complete example
 * in docs/tutti.toml.
 */

import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { EQUAL_SHARES, type ShareSettings } from "@tutti/kernel/core/fair-share.ts";
import { checkQueueClasses, type QueueClass, QueueClassError } from "@tutti/kernel/core/queue-classes.ts";
import {
  configFile,
  hooksSetting,
  limitSetting,
  limitsSetting,
  machineSetting,
  queueSetting,
  RENAMED_SETTINGS,
  reservationRule,
  type resourceSettings,
  sharedUnits,
  shareGroupSetting,
  sharesSetting,
  UNLIMITED,
  webSetting,
} from "@tutti/protocol/config.ts";
import { GPU, GPU_VARIABLES, type Resource } from "@tutti/protocol/resources.ts";
import type { z } from "zod";
import { lineOf, parseText } from "./config-text.ts";

export interface QueueSetting {
  readonly queueClass: QueueClass;
  /** Expected running time of a job without a time limit. */
  readonly defaultLimitMs?: number | undefined;
  /** Other names under which jobs ask for it. */
  readonly aliases?: readonly string[] | undefined;
  /** Limits on all its jobs together. */
  readonly limits?: LimitSettings | undefined;
}

/** All names under which jobs ask for a queue; the first one is its own. */
export function namesOf({ queueClass, aliases = [] }: QueueSetting): readonly string[] {
  return [queueClass.name, ...aliases];
}

export type LimitSettings = Readonly<z.infer<typeof limitSetting>>;

/**
 * The file with defaults filled in. If `cpus` or `memoryBytes` is undefined, jobs may use all of the
 * machine's.
 */
export interface Config extends Readonly<Omit<z.infer<typeof configFile>, "queues" | "cpus" | "resources">> {
  readonly cpus?: readonly number[] | undefined;
  /** In the order of the file. A kind without units counts as named there, and has no other effect. */
  readonly resources: readonly Resource[];
  /** Never empty: a file without queues gets a queue `default` that admits everything. */
  readonly queues: readonly QueueSetting[];
}

export const DEFAULT_CONFIG: Config = configOf({});

/** A mistake in the file; `where` is the field. */
class Mistake extends Error {
  readonly where: string;

  constructor(where: string, message: string) {
    super(message);
    this.where = where;
  }
}

export interface ReadConfig {
  readonly config: Config;
  /** Line of each setting in the file, by the setting's present name. */
  readonly lines: ReadonlyMap<string, number | undefined>;
  /** Sentences about older names in the file. */
  readonly notes: readonly string[];
}

/**
 * Reads a configuration and fills in defaults.
 * @param file name for messages; its extension decides between JSON and TOML
 * @throws InputError naming the file, the line, the field, the value and what was expected
 */
export function readConfig(text: string, file: string): ReadConfig {
  const value = parseText(text, file);
  try {
    const { settings, renamed } = withPresentNames(value);
    const config = configOf(settings);
    const lines = Object.keys(value as object).map(
      (field) => [renamed.get(field) ?? field, lineOf(text, field)] as const,
    );
    const notes = [...renamed].map(
      ([old, name]) =>
        `"${old}" in ${placeIn(text, file, old)} is the older name of "${name}", and still works; write "${name}"`,
    );
    const ofQueues = config.queues.map((_, i) => [`queues[${i}]`, lineOf(text, `queues[${i}]`)] as const);
    const hasQueues = lines.some(([field]) => field === "queues");
    const ofResources = config.resources.map(({ name }) => {
      const field = `resources.${name}`;
      return [field, lineOf(text, field)] as const;
    });
    const ofLimits = limitTablesOf(config).map(([field]) => [field, lineOf(text, field)] as const);
    return {
      config,
      lines: new Map([...lines, ...(hasQueues ? ofQueues : []), ...ofResources, ...ofLimits]),
      notes,
    };
  } catch (error) {
    if (!(error instanceof Mistake)) throw error;
    const end = error.message.lastIndexOf(": ");
    throw new InputError(
      `${error.message.slice(0, end)} in ${placeIn(text, file, error.where)}${error.message.slice(end)}`,
    );
  }
}

/** The limits of single users and of groups, by their fields. */
export function limitTablesOf({ limits: { users = {}, groups = {} } }: Pick<Config, "limits">) {
  return Object.entries({ users, groups }).flatMap(([kind, tables]) =>
    Object.entries(tables).map(([name, limits]) => [`limits.${kind}.${name}`, limits] as const),
  );
}

function placeIn(text: string, file: string, field: string): string {
  const [older] = Object.entries(RENAMED_SETTINGS).find(([, name]) => name === field) ?? [];
  const line = field === "" ? undefined : (lineOf(text, field) ?? (older && lineOf(text, older)));
  return `"${file}"${line === undefined ? "" : `, line ${line}`}`;
}

/**
 * The settings of a file by their present names, and which older names it uses.
 * @throws Mistake if the file has both names of a setting
 */
function withPresentNames(value: unknown): {
  readonly settings: unknown;
  readonly renamed: ReadonlyMap<string, string>;
} {
  const renamed = new Map<string, string>();
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { settings: value, renamed };
  for (const [old, name] of Object.entries(RENAMED_SETTINGS)) {
    if (!Object.hasOwn(value, old)) continue;
    if (Object.hasOwn(value, name)) {
      throw new Mistake(
        old,
        `Cannot use "${old}" and "${name}" together: "${old}" is the older name of "${name}"; use only "${name}"`,
      );
    }
    renamed.set(old, name);
  }
  const settings = Object.fromEntries(
    Object.entries(value).map(([field, setting]) => [renamed.get(field) ?? field, setting]),
  );
  return { settings, renamed };
}

function configOf(value: unknown): Config {
  const { success, data, error } = configFile.safeParse(value);
  if (!success) {
    const issue = error.issues.find(({ code }) => code === "unrecognized_keys") ?? error.issues[0];
    // This check has better messages for mistakes in a class.
    if (issue.path[0] === "queues" && issue.code !== "unrecognized_keys") checkClasses(value);
    throw mistakeOf(issue, value);
  }
  const { cpus, queues = [{ name: "default" }], resources = {}, ...rest } = data;
  checkClasses({ queues });
  checkAliases(queues);
  checkShares(rest.shares);
  return {
    ...rest,
    resources: Object.entries(resources).map(([name, setting]) => resourceOf(name, setting)),
    ...(cpus !== undefined && { cpus: cpus.toSorted((a, b) => a - b) }),
    queues: queues.map(queueOf),
  };
}

/** @throws Mistake if a name means two queues */
function checkAliases(
  queues: readonly { readonly name: string; readonly aliases?: readonly string[] | undefined }[],
): void {
  const owners = new Map(queues.map(({ name }) => [name, name]));
  for (const [i, { name, aliases = [] }] of queues.entries()) {
    for (const [k, alias] of aliases.entries()) {
      const owner = owners.get(alias);
      if (owner !== undefined) {
        throw new Mistake(
          `queues[${i}].aliases[${k}]`,
          `Cannot use "${alias}" as queues[${i}].aliases[${k}]: it is already a name of queue "${owner}", expected each name once`,
        );
      }
      owners.set(alias, name);
    }
  }
}

/** @throws Mistake if a user is named twice */
function checkShares(shares: z.infer<typeof sharesSetting> | undefined): void {
  if (shares === undefined) return;
  const named = new Set(Object.keys(shares.users));
  for (const [group, { users }] of Object.entries(shares.groups)) {
    for (const user of Object.keys(users)) {
      if (named.has(user)) {
        throw new Mistake(
          `shares.groups.${group}.users.${user}`,
          `Cannot use "${user}" as a user of shares.groups.${group}: the user has a share elsewhere, expected each user once`,
        );
      }
      named.add(user);
    }
  }
}

/** Who should get how much of the machine; without the setting, everyone the same. */
export function sharesOf({ shares }: Pick<Config, "shares">): ShareSettings {
  if (shares === undefined) return EQUAL_SHARES;
  const { halfLifeDays, users, groups } = shares;
  return { halfLifeS: halfLifeDays * 86_400, users, groups };
}

/**
 * Units that are only counted are named 0, 1, 2, …
 * @throws Mistake if a unit is named twice
 */
function resourceOf(name: string, setting: z.infer<typeof resourceSettings>[string]): Resource {
  const { units, shared } =
    typeof setting === "object" && "units" in setting ? setting : { units: setting, shared: false };
  const names = typeof units === "number" ? Array.from({ length: units }, (_, i) => String(i)) : units;
  const twice = names.find((unit, i) => names.indexOf(unit) < i);
  if (twice !== undefined) {
    throw new Mistake(
      `resources.${name}`,
      `Cannot use ${JSON.stringify(names)} as resources.${name}: unit "${twice}" is named twice, expected each unit once`,
    );
  }
  return { name, units: names, isShared: shared, variables: name === GPU ? GPU_VARIABLES : [] };
}

function queueOf({
  aliases,
  defaultLimitMs,
  runningCpus,
  runningJobs,
  waitingJobs,
  ...fields
}: z.infer<typeof queueSetting>): QueueSetting {
  const limits = {
    ...(runningCpus !== undefined && { runningCpus }),
    ...(runningJobs !== undefined && { runningJobs }),
    ...(waitingJobs !== undefined && { waitingJobs }),
  };
  return {
    queueClass: queueClassOf(fields),
    ...(aliases?.length && { aliases }),
    defaultLimitMs,
    ...(Object.keys(limits).length > 0 && { limits }),
  };
}

/** Processors, processes and threads are unlimited unless the file limits them. */
function queueClassOf(fields: Partial<QueueClass> & Pick<QueueClass, "name">): QueueClass {
  return { processors: UNLIMITED, processes: UNLIMITED, threads: UNLIMITED, ...fields };
}

/** @throws Mistake at the first class that is wrong by itself or conflicts with another */
function checkClasses(value: unknown): void {
  const { queues } = value as { queues: readonly QueueClass[] };
  if (!Array.isArray(queues) || queues.some((queue) => typeof queue?.name !== "string")) return;
  try {
    checkQueueClasses(queues.map(queueClassOf));
  } catch (error) {
    if (!(error instanceof QueueClassError)) throw error;
    const { index, field, message } = error;
    throw new Mistake(index === undefined ? "queues" : `queues[${index}].${field}`, message);
  }
}

function mistakeOf(issue: z.core.$ZodIssue, value: unknown): Mistake {
  const where = issue.path
    .map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`))
    .join("")
    .replace(/^\./, "");
  const what = where === "" ? "the configuration" : where;
  if (issue.code === "invalid_key") {
    const [key] = issue.path.slice(-1);
    return new Mistake(
      where,
      `Cannot use ${JSON.stringify(key)} in ${issue.path.slice(0, -1).join(".")}: expected ${issue.issues[0].message}`,
    );
  }
  if (issue.code !== "unrecognized_keys") {
    const actual = issue.path.reduce((at, key) => (at as Record<PropertyKey, unknown>)[key], value);
    return new Mistake(where, `Cannot use ${JSON.stringify(actual)} as ${what}: expected ${issue.message}`);
  }
  const [field] = issue.keys as [string];
  const sections = {
    "": configFile,
    hooks: hooksSetting,
    queues: queueSetting,
    web: webSetting,
    machine: machineSetting,
    shares: sharesSetting,
    limits: limitsSetting,
  };
  const object = where.startsWith("resources.")
    ? sharedUnits
    : where.startsWith("shares.")
      ? shareGroupSetting
      : where.startsWith("limits.")
        ? limitSetting
        : (sections[where.replace(/\[\d+\]$/, "") as keyof typeof sections] ?? reservationRule);
  const known = Object.keys(object.shape);
  return new Mistake(
    where === "" ? field : `${where}.${field}`,
    `Cannot use "${field}" in ${what}: there is no such field${closest(field, known)}, expected ${known.join(", ")}`,
  );
}
