/**
 * Parses and checks the body of a submit job by job, so a body of 16 MiB and 10,000 jobs delays other users'
 * requests by only a few ms. The list of jobs is first located in the bytes. Everything around it (the shell)
 * is checked first, with a list of the same length in place of the jobs.
 */

import { issueText } from "@tutti/protocol/issue-text.ts";
import {
  MAX_DEPENDENCIES,
  MAX_JOBS_PER_BATCH,
  MAX_STRING_LENGTH,
  MAX_VARIABLES,
} from "@tutti/protocol/limits.ts";
import { isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import {
  kernelText,
  type SubmitBody,
  type SubmitJob,
  submitBody,
  submitJob,
} from "@tutti/protocol/schema.ts";
import { isVariable } from "@tutti/protocol/sweep-values.ts";
import { z } from "zod";
import type { ApiRefusal } from "../refusal.ts";
import { beyondLimits, checked, type Issue, Issues, parsed } from "./issues.ts";
import { scanJson } from "./json-scan.ts";

const LIMITS = { depth: 12, entries: 100_000 };
const MAX_BYTES_AROUND_JOBS = 64 * 1024;
/** Text of jobs between two yields: a few ms of work. */
const PIECE_BYTES = 128 * 1024;
/** Fixed cost of a job, expressed in bytes of text. */
const BYTES_OF_JOB = 512;
/** Longer lists of a job are checked here, because the schema would collect an issue for each entry. */
const LONG = 64;
/** After this many issues, the rest is not checked. */
const MAX_ISSUES = 100;

const shellBody = submitBody.extend({ jobs: z.array(z.unknown()).min(1).max(MAX_JOBS_PER_BATCH) });

export function* submitPieces(bytes: Buffer): Generator<undefined, SubmitBody | ApiRefusal, void> {
  const { beyond, list } = yield* scanJson(bytes, LIMITS, "jobs");
  const refusal = beyondLimits(beyond, LIMITS);
  if (refusal !== undefined) return refusal;
  const { open, close, commas } = list ?? { open: bytes.length, close: bytes.length, commas: [] };
  const around = bytes.length - (close - open);
  if (around > MAX_BYTES_AROUND_JOBS) {
    return refuse(
      "invalid",
      `Cannot use the body: it has ${around} bytes in addition to its jobs, expected at most ${MAX_BYTES_AROUND_JOBS}`,
    );
  }
  const shell = parsed(bytes.toString("utf8", 0, open + 1) + bytes.toString("utf8", close, bytes.length));
  if (isRefusal(shell)) return shell;
  // The body is wrong, or the key `jobs` is written with escapes.
  if (list === undefined) return checked(shell.json, submitBody, "the body");
  const edges = [open, ...commas, close];
  const isEmpty = commas.length === 0 && bytes.toString("utf8", open + 1, close).trim() === "";
  const count = isEmpty ? 0 : edges.length - 1;
  const body = checkedShell(shell.json, count);
  if (isRefusal(body)) return body;
  const issues = new Issues();
  const jobs: SubmitJob[] = [];
  let budget = PIECE_BYTES;
  for (let i = 0; i < count; i++) {
    const from = edges[i] + 1;
    const to = edges[i + 1];
    const job = parsed(bytes.toString("utf8", from, to));
    if (isRefusal(job)) return job;
    const result = checkedJob(job.json);
    if ("job" in result) jobs.push(result.job);
    else for (const issue of result.issues) issues.add(issue, ["jobs", i]);
    if (issues.count >= MAX_ISSUES) break;
    budget -= to - from + BYTES_OF_JOB;
    if (budget > 0) continue;
    budget = PIECE_BYTES;
    yield;
  }
  return issues.count > 0 ? issues.refusal("the body") : { ...body, jobs };
}

/** Checks everything around the jobs, with a list of `count` entries in their place. */
function checkedShell(shell: unknown, count: number): Omit<SubmitBody, "jobs"> | ApiRefusal {
  const jobs = (shell as { jobs?: unknown }).jobs;
  // If a name occurs twice, the last value counts, and that is not the list that was cut out.
  if (!Array.isArray(jobs) || jobs.length > 0) {
    return refuse("invalid", "Cannot use the body: it has the key jobs twice");
  }
  jobs.length = count;
  jobs.fill(null);
  return checked(shell, shellBody, "the body");
}

/** The job or its issues. Long fields are checked by hand; the schema sees short stand-ins for them. */
function checkedJob(job: unknown): { readonly job: SubmitJob } | { readonly issues: readonly Issue[] } {
  if (!isObject(job)) return { issues: issuesOf(submitJob, job) };
  const { command, env, after, values } = job;
  const short: Record<string, unknown> = { ...job };
  const long: Partial<SubmitJob> = {};
  if (Array.isArray(command) && command.length > LONG) {
    const wrong = command.findIndex((word) => !isKernelText(word));
    if (wrong >= 0) return { issues: issuesOf(kernelText, command[wrong], ["command", wrong]) };
    short.command = command.slice(0, 1);
    Object.assign(long, { command });
  }
  if (isObject(env) && Object.keys(env).length > LONG) {
    // zod drops this key, too.
    Reflect.deleteProperty(env, "__proto__");
    const wrong = Object.keys(env).find((name) => !isName(name) || !isKernelText(env[name]));
    if (wrong !== undefined)
      return { issues: issuesOf(submitJob.shape.env, { [wrong]: env[wrong] }, ["env"]) };
    short.env = {};
    Object.assign(long, { env });
  }
  if (isObject(values)) {
    Reflect.deleteProperty(values, "__proto__");
    const columns = Object.entries(values).slice(0, MAX_VARIABLES + 1);
    for (const [name, column] of columns) {
      const isLong = isLongList(column) && isVariable(name);
      const wrong = isLong ? column.findIndex((value) => !isKernelText(value)) : -1;
      if (wrong >= 0)
        return { issues: issuesOf(kernelText, (column as unknown[])[wrong], ["values", name, wrong]) };
    }
    short.values = Object.fromEntries(columns.map(([name, column]) => [name, standInOf(column)]));
    Object.assign(long, { values });
  }
  if (Array.isArray(after) && after.length > MAX_DEPENDENCIES)
    short.after = after.slice(0, MAX_DEPENDENCIES + 1);
  const result = submitJob.safeParse(short, { error: issueText });
  return result.success ? { job: { ...result.data, ...long } } : { issues: result.error.issues };
}

function issuesOf(schema: z.ZodType, value: unknown, path: readonly PropertyKey[] = []): Issue[] {
  const issues = schema.safeParse(value, { error: issueText }).error?.issues ?? [];
  if (issues.length === 0) throw new Error("Broken invariant: the schema accepts a wrong value");
  return issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isLongList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > LONG;
}

/** For a long list of values: its beginning, which is too long if the list is. */
function standInOf(column: unknown): unknown {
  if (!isLongList(column)) return column;
  return column.slice(0, column.length > MAX_JOBS_PER_BATCH ? MAX_JOBS_PER_BATCH + 1 : 1);
}

function isKernelText(word: unknown): boolean {
  return typeof word === "string" && word.length <= MAX_STRING_LENGTH && !word.includes("\0");
}

function isName(name: string): boolean {
  return name !== "" && !name.includes("=") && isKernelText(name);
}
