/** Says the values of a job's fields as text, by kind (protocol/job-fields.ts). */
import { limitText } from "@tutti/kernel/core/format.ts";
import {
  calledOf,
  JOB_FIELDS,
  type JobField,
  type JobFieldName,
  type Kind,
} from "@tutti/protocol/job-fields.ts";
import { type Units, type Use, unitsText, useText } from "@tutti/protocol/resources.ts";
import { quoted } from "./command-line.ts";
import { bytesText, clockText, isoText } from "./times.ts";

/** By kind, unless `String` says it. */
const TEXTS: Readonly<Partial<Record<Kind, (value: never) => string>>> = {
  bytes: (value: number) => bytesText(value),
  duration: (value: number) => limitText(value),
  time: (value: number) => clockText(value),
  use: (value: Use) => useText(value),
  units: (value: Units) => unitsText(value),
  values: valuesText,
  command: (value: readonly string[]) => value.map(quoted).join(" "),
};

/** The value of a field. It may have texts that users chose. */
export function fieldText(name: JobFieldName, value: unknown): string {
  const { kind, answerKind = kind }: JobField = JOB_FIELDS[name];
  // Older histories have lists as text already.
  return typeof value === "string" ? value : (TEXTS[answerKind] ?? String)(value as never);
}

const UNITS = [
  [3_600_000, "h"],
  [60_000, "m"],
] as const;

/** By kind, what an option reads; unless `String` writes it, also lists with commas. */
const OPTION_TEXTS: Readonly<Partial<Record<Kind, (value: never) => string>>> = {
  duration: (ms: number) => {
    const [unitMs, unit] = UNITS.find(([each]) => ms % each === 0) ?? [1000, "s"];
    return ms / unitMs + unit;
  },
  time: (unixMs: number) => isoText(unixMs).replace(/\.\d+/, ""),
  use: (value: Use) => useText(value),
};

/** The value of a field as its option reads it: `90s`, `10m` or `2h`, `gpu:1`. */
export function optionText(name: JobFieldName, value: unknown): string {
  return (OPTION_TEXTS[JOB_FIELDS[name].kind] ?? String)(value as never);
}

/** Such as `limit 10 min`, `retry on fail, 75`. Of a field that this version does not know, its name. */
export function namedFieldText(name: string, value: unknown): string {
  if (!Object.hasOwn(JOB_FIELDS, name)) return `${name} ${value}`;
  const field = name as JobFieldName;
  return `${calledOf(field)} ${fieldText(field, value)}`;
}

/** Such as `lr=0.1 seed=3`. */
export function valuesText(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${quoted(value)}`)
    .join(" ");
}
