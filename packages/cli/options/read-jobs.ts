/**
 * Reads `--from-json FILE`: jobs as a JSON array, or one per line, with the fields of the API. What the file
 * leaves out is as for a command: folder, environment, mask. Options of the command line win over the file.
 */
import { resolve } from "node:path";
import { whyNoFolder } from "@tutti/host/files.ts";
import { closest } from "@tutti/kernel/core/did-you-mean.ts";
import { InputError } from "@tutti/kernel/core/errors.ts";
import { formatCount } from "@tutti/kernel/core/format.ts";
import { issueText } from "@tutti/protocol/issue-text.ts";
import { MAX_JOBS_PER_BATCH, MAX_SUBMIT_BYTES } from "@tutti/protocol/limits.ts";
import { submitJob } from "@tutti/protocol/requests.ts";
import type { SubmitJob } from "@tutti/protocol/schema.ts";
import { readText } from "./read-text.ts";

const FIELDS = Object.keys(submitJob.shape);
const EXPECTED =
  'expected jobs with the fields of the API, such as {"command": ["./a.out", "1"], "tasks": 2}';

interface Place {
  readonly value: unknown;
  /** Such as `job 3`, `line 7`. */
  readonly place: string;
}

/**
 * @param common fields of jobs that leave them out
 * @param given fields of the command line
 * @throws InputError
 */
export async function readJobs(
  file: string,
  common: Pick<SubmitJob, "cwd" | "env" | "umask">,
  given: Partial<SubmitJob>,
): Promise<SubmitJob[]> {
  const { text, what } = await readText(file, EXPECTED);
  const places = placesOf(text, what);
  if (places.length === 0)
    throw new InputError(`Cannot submit the jobs of ${what}: there are none, ${EXPECTED}`);
  if (places.length > MAX_JOBS_PER_BATCH) {
    throw new InputError(
      `Cannot submit the jobs of ${what}: there are ${formatCount(places.length)}, expected at most ${formatCount(MAX_JOBS_PER_BATCH)}; submit parts of them`,
    );
  }
  const bytes = text.length + places.length * JSON.stringify(common.env).length;
  if (bytes > MAX_SUBMIT_BYTES) {
    throw new InputError(
      `Cannot submit the jobs of ${what}: with your environment in each of them, they have ${formatCount(bytes)} bytes, expected at most ${formatCount(MAX_SUBMIT_BYTES)}; pass less of it, such as --env PATH,HOME, or submit parts of them`,
    );
  }
  const jobs = places.map((place) => jobAt(place, what, common, given));
  const folders = new Map<string, string | undefined>();
  for (const [i, { cwd, after }] of jobs.entries()) {
    if (after !== undefined) continue;
    if (!folders.has(cwd)) folders.set(cwd, await whyNoFolder(cwd));
    const why = folders.get(cwd);
    if (why === undefined) continue;
    throw new InputError(
      `Cannot use ${places[i].place} of ${what}: its folder "${cwd}" ${why}, expected a folder in which the job can run`,
    );
  }
  return jobs;
}

/** A file that is JSON as a whole is a list of jobs or a single one; else each line is a job. */
function placesOf(text: string, what: string): Place[] {
  const isLines = /^\s*\{[^\n]*\}\s*\n\s*\{/.test(text);
  if (!isLines) {
    const value = parse(text, what, "");
    if (Array.isArray(value)) return value.map((job, i) => ({ value: job, place: `job ${i + 1}` }));
    return [{ value, place: "job 1" }];
  }
  return text.split("\n").flatMap((line, i) => {
    if (line.trim() === "") return [];
    return [{ value: parse(line, what, `line ${i + 1} of `), place: `line ${i + 1}` }];
  });
}

function parse(text: string, what: string, where: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(
      `Cannot read ${where}${what}: it is not JSON (${(error as Error).message}); ${EXPECTED}`,
    );
  }
  const name = repeatedName(text);
  if (name === undefined) return value;
  throw new InputError(
    `Cannot read ${where}${what}: an object has the name ${JSON.stringify(name)} twice, expected it once`,
  );
}

function jobAt(
  { value, place }: Place,
  what: string,
  common: Pick<SubmitJob, "cwd" | "env" | "umask">,
  given: Partial<SubmitJob>,
): SubmitJob {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(
      `Cannot use ${place} of ${what}: it is ${JSON.stringify(value).slice(0, 60)}, ${EXPECTED}`,
    );
  }
  const { cwd, env, ...fields } = value as Record<string, unknown>;
  const isObject = typeof env === "object" && env !== null && !Array.isArray(env);
  const job = {
    ...common,
    ...fields,
    ...(cwd !== undefined && { cwd: typeof cwd === "string" ? resolve(cwd) : cwd }),
    ...(env !== undefined && { env: isObject ? { ...common.env, ...env } : env }),
    ...given,
  };
  const result = submitJob.safeParse(job, { error: issueText });
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const [unknown] = issue.code === "unrecognized_keys" && issue.path.length === 0 ? issue.keys : [];
  const field = issue.path.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
  throw new InputError(
    unknown === undefined
      ? `Cannot use ${place} of ${what}: ${field.replace(/^\./, "")}${field === "" ? "" : ": "}${issue.message}`
      : `Cannot use ${place} of ${what}: it has the unknown field ${JSON.stringify(unknown.slice(0, 60))}${closest(unknown, FIELDS)}; ${EXPECTED}`,
  );
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The first name that is repeated in its object: JSON.parse would silently take the last value.
 * @param text valid JSON
 */
export function repeatedName(text: string): string | undefined {
  /** The names of each open object; undefined: a list. */
  const open: (Set<string> | undefined)[] = [];
  let before = "";
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const name = JSON.parse(before) as string;
      const names = open.at(-1)!;
      if (names.has(name)) return name;
      names.add(name);
    }
    before = token;
  }
  return undefined;
}
