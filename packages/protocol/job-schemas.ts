/**
 * Makes the schemas of a job's fields from the table (job-fields.ts): how a request may ask for a job, and
 * what answers say about one. The OpenAPI document does not show checks made with `refine`.
 */
import { z } from "zod";
import { count, durationMs, jobNumber, jobState, kindName, nodes, optional, unixMs } from "./atoms.ts";
import { whole } from "./issue-text.ts";
import { type FieldsWith, JOB_FIELD_ROWS, type JOB_FIELDS, type JobField, type Kind } from "./job-fields.ts";
import * as limits from "./limits.ts";
import { areMailAddresses, isWebAddress, MAIL_ADDRESSES, NEWS_EVENTS, WARNING_SIGNALS } from "./news/news.ts";
import { newsOutcome } from "./news/outcome.ts";
import { MAX_KINDS, MAX_UNITS } from "./resources.ts";
import { isVariable } from "./sweep-values.ts";

const NUL = "contains a NUL character";
const NO_NUL = /^[^\0]*$/;
/** Text that is passed to the kernel as a C string. */
export const kernelText = z.string().max(limits.MAX_STRING_LENGTH).regex(NO_NUL, NUL);
const path = kernelText.min(1).max(limits.MAX_PATH_LENGTH);
export const label = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !text.includes("\0"), NUL);
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const RETRY_WORD = /^(?:fail|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5]|SIG[A-Z][A-Z0-9]{1,9})$/;

/** Number of entries of an object. */
const entries = (value: object) => Object.keys(value).length;

const range = ({ min = 0, max = Number.MAX_SAFE_INTEGER, rangeText }: JobField) => whole(min, max, rangeText);

/** Schemas of requests by kind. */
const REQUESTED = {
  count: range,
  bytes: range,
  duration: range,
  time: range,
  flag: () => z.boolean(),
  text: ({ max = limits.MAX_NAME_LENGTH }: JobField) => label(max),
  path: () => path,
  hook: () => z.string().min(1).max(limits.MAX_HOOK_LENGTH).regex(NO_NUL, NUL),
  url: () =>
    z
      .string()
      .max(limits.MAX_URL_LENGTH)
      .refine(isWebAddress, "is not an address that begins with http:// or https://"),
  addresses: () =>
    z.string().max(limits.MAX_MAIL_LENGTH).refine(areMailAddresses, `is not a list of ${MAIL_ADDRESSES}`),
  mask: () => z.string().regex(/^0?[0-7]{3}$/, "is not a mask, expected three octal digits such as 027"),
  word: () => z.string().regex(/^[A-Za-z0-9_]{1,32}$/, "is not a type of MPI, expected a word such as pmix"),
  choice: ({ choices = [] }: JobField) => z.enum(choices),
  ends: ({ max = 1 }: JobField) =>
    z
      .array(
        z.string().regex(RETRY_WORD, 'is not "fail", an exit code from 1 to 255 or a signal such as SIGBUS'),
      )
      .min(1)
      .max(max),
  events: () => z.array(z.enum(NEWS_EVENTS)).min(1).max(NEWS_EVENTS.length),
  use: () =>
    z
      .record(kindName, whole(1, MAX_UNITS))
      .refine((kinds) => entries(kinds) <= MAX_KINDS, `has more than ${MAX_KINDS} kinds`),
  signal: () =>
    z.strictObject({
      name: z.enum(WARNING_SIGNALS),
      beforeMs: whole(0, limits.MAX_LIMIT_MS, "ten years").describe(
        "How long before the end of limitMs it is sent",
      ),
      batchOnly: optional(
        z.literal(true),
        "Only the first process gets it. Default: all processes of a command; of a script, all but the script itself",
      ),
    }),
  command: () =>
    z
      .array(kernelText)
      .min(1)
      .max(limits.MAX_COMMAND_WORDS)
      .refine(([program]) => program !== "", "has an empty first word, expected the name of a program"),
  folder: () => path.regex(/^\//, "is not absolute, expected a path that begins with /"),
  environment: () =>
    z.record(
      kernelText.min(1).regex(/^[^=]+$/, 'contains "=", expected the name of an environment variable'),
      kernelText,
    ),
  script: () =>
    z.strictObject({
      base64: z
        .string()
        .max(Math.ceil(limits.MAX_SCRIPT_BYTES / 3) * 4)
        .refine((text) => text.length % 4 === 0 && BASE64.test(text), "is not base64")
        .describe("The script's bytes, at most 1 MiB, in base64"),
      word: whole(0, limits.MAX_COMMAND_WORDS - 1).describe(
        "Index, counted from 0, of the word of the command that the path of the copy replaces",
      ),
    }),
  indices: () => z.string().max(100_000),
  columns: () =>
    z
      .record(
        z
          .string()
          .max(limits.MAX_NAME_LENGTH)
          .refine(
            isVariable,
            "is not the name of a variable, expected letters, digits and _, and no other TUTTI_ than TUTTI_LINE",
          ),
        z.array(kernelText).min(1).max(limits.MAX_JOBS_PER_BATCH),
      )
      .refine(
        (variables) => entries(variables) >= 1 && entries(variables) <= limits.MAX_VARIABLES,
        `has no variable, or more than ${limits.MAX_VARIABLES}`,
      ),
  names: ({ max = 1 }: JobField) =>
    z
      .array(
        kernelText
          .max(limits.MAX_NAME_LENGTH)
          .regex(/^[^\s,-][^\s,]*$/, "is not a name, expected one without blanks and commas"),
      )
      .min(1)
      .max(max),
  dependencies: () => z.array(dependency).max(limits.MAX_DEPENDENCIES),
} satisfies Partial<Record<Kind, (row: JobField) => z.ZodType>>;

const dependency = z
  .strictObject({
    job: jobNumber.exactOptional(),
    entry: optional(
      whole(0, limits.MAX_JOBS_PER_BATCH - 1),
      "Instead of job: an earlier job of this request, by its index in jobs, counted from 0; of an array, all its jobs",
    ),
    ok: z.boolean().describe("true: this job is cancelled unless the other one succeeds"),
    kind: optional(
      z.enum(["notok", "each"]),
      "notok: this job is cancelled unless the other one fails or is cancelled. each: each job of this array waits for the success of the one with the same index in the array of that job. `ok` does not count then",
    ),
  })
  .refine(
    ({ job, entry }) => (job === undefined) !== (entry === undefined),
    "names neither or both of job and entry, expected one of them",
  );

const text = () => z.string();
const texts = () => z.array(z.string());

/** Schemas of answers by kind. Jobs in the store may exceed the limits of requests, so these have none. */
const ANSWERED = {
  count: ({ min = 0 }: JobField) => (min < 0 ? z.int() : z.int().min(min)),
  bytes: () => z.number(),
  duration: () => durationMs,
  time: () => unixMs,
  yes: () => z.literal(true),
  job: () => jobNumber,
  text,
  path: text,
  hook: text,
  url: text,
  addresses: text,
  word: text,
  choice: REQUESTED.choice,
  ends: texts,
  names: texts,
  events: () => z.array(z.enum(NEWS_EVENTS)),
  use: () => z.record(z.string(), count),
  signal: REQUESTED.signal,
  command: texts,
  folder: text,
  state: () => jobState,
  values: () => z.record(z.string(), z.string()),
  jobs: () => z.array(jobNumber),
  howEnded: () => z.array(z.enum(["any", "ok", "notok"])),
  units: () => z.record(z.string(), z.array(z.string())),
  cpus: () => z.array(count),
  nodes: () => nodes,
  usage: () =>
    z.object({
      cpuMs: optional(durationMs, "CPU time of all its processes"),
      peakMemoryBytes: optional(
        z.number(),
        "The most memory at a time, including the files that the kernel kept in memory for it",
      ),
      readBytes: optional(z.number(), "Bytes read from block devices"),
      writtenBytes: optional(z.number(), "Bytes written to block devices"),
      gpus: optional(count, "Its GPUs that nvidia-smi or rocm-smi has measured; the next two are of these"),
      gpuShare: optional(z.number(), "How busy they were on average while the job ran, 0 to 1"),
      peakGpuMemoryBytes: optional(
        z.number(),
        "The most memory in use of all of them at a time; of a shared GPU, with that of other jobs",
      ),
    }),
  outcomes: () => z.array(newsOutcome),
  code: () => z.int().min(0).max(255),
} satisfies Partial<Record<Kind, (row: JobField) => z.ZodType>>;

type Rows = typeof JOB_FIELDS;
type Makers = Readonly<Record<string, (row: JobField) => z.ZodType>>;
/** The schema of a row's values. */
type SchemaOf<Row, Of extends Makers> = Row extends {
  readonly choices: infer Choices extends readonly string[];
}
  ? z.ZodType<Choices[number], Choices[number]>
  : ReturnType<Of[KindIn<Row, Of>]>;
type KindIn<Row, Of> = Of extends typeof ANSWERED
  ? Row extends { readonly answerKind: infer K extends keyof Of }
    ? K
    : Row extends { readonly kind: infer K extends keyof Of }
      ? K
      : never
  : Row extends { readonly kind: infer K extends keyof Of }
    ? K
    : never;
/** With keys that may be left out. */
type Optional<Schema> = Schema extends z.ZodType ? z.ZodExactOptional<Schema> : never;
type RequestShape = {
  readonly [Name in FieldsWith<{ readonly request: string }>]: Rows[Name] extends {
    readonly isRequired: true;
  }
    ? SchemaOf<Rows[Name], typeof REQUESTED>
    : Optional<SchemaOf<Rows[Name], typeof REQUESTED>>;
};
type AnswerShape = {
  readonly [Name in FieldsWith<{ readonly answer: string | true }>]: Rows[Name] extends {
    readonly isAlways: true;
  }
    ? SchemaOf<Rows[Name], typeof ANSWERED>
    : Optional<SchemaOf<Rows[Name], typeof ANSWERED>>;
};

/** @param of which of the two a field's row says something about */
function shapeOf(of: "request" | "answer", makers: Makers): Record<string, z.ZodType> {
  const shape: Record<string, z.ZodType> = {};
  for (const [name, row] of JOB_FIELD_ROWS) {
    const about = row[of] === true ? row.request : row[of];
    if (about === undefined) continue;
    const kind = of === "answer" ? (row.answerKind ?? row.kind) : row.kind;
    const schema = makers[kind](row);
    const isSure = of === "answer" ? row.isAlways : row.isRequired;
    const field = isSure ? schema : schema.exactOptional();
    shape[name] = about === "" ? field : field.describe(about);
  }
  return shape;
}

export const submitJob = z
  .strictObject(shapeOf("request", REQUESTED) as unknown as RequestShape)
  .describe("A job or a job array to run");

export const job = z.object(shapeOf("answer", ANSWERED) as unknown as AnswerShape).describe("A job");
