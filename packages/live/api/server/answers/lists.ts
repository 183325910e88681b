/**
 * Answers requests for lists of jobs, exports and batches. Long answers are sent in pieces, and an answer
 * that was cut off always says so.
 */
import { holds, mergeRanges, parseRanges } from "@tutti/kernel/core/number-ranges.ts";
import { brief } from "@tutti/protocol/job-answers.ts";
import { FILTERS } from "@tutti/protocol/job-fields.ts";
import { MAX_JOBS_PER_BATCH, MAX_JOBS_PER_PAGE } from "@tutti/protocol/limits.ts";
import { type Answer, isRefusal, refuse } from "@tutti/protocol/refusal.ts";
import type * as c from "@tutti/protocol/schema.ts";
import type { Job } from "@tutti/protocol/schema.ts";
import { ENDED_STATES, isEnded } from "@tutti/protocol/states.ts";
import type { Change, JobQuery, ListEnd, Service } from "../../../daemon/contract/service.ts";
import type { Call, HandlerDeps, Outcome } from "../call.ts";
import type { ApiRefusal } from "../refusal.ts";
import { listResponse, pagesOf, piecesResponse } from "./pieces.ts";
import { waitUntil } from "./waiting.ts";

/** Number of ended jobs in a list without filters. */
const LISTED_ENDED = 1000;
/** How often a waiting request checks again without an event, in case an event was missed. */
const LOOK_AGAIN_MS = 10_000;
/** Jobs changed in one cycle, which takes about 25 ms. Other requests are served between cycles. */
const CHANGES_IN_TURN = 250;
const RESULTS_IN_PIECE = 150;

export async function jobsResponse(call: Call, { service }: HandlerDeps): Promise<Outcome> {
  const { caller, query, turns } = call;
  const wanted = queryOf(query);
  if (isRefusal(wanted)) return wanted;
  if (query.wait !== undefined) await untilAny(call, service, wanted);
  let end: ListEnd = {};
  function* pages() {
    const list = service.list(caller, wanted as JobQuery);
    for (let step = list.next(); ; step = list.next()) {
      if (step.done) {
        end = step.value;
        return;
      }
      yield step.value.map(brief);
    }
  }
  return listResponse(turns, "tutti.jobs/1", "jobs", pages(), () => end);
}

export function jsonlResponse({ caller, turns }: Call, { service }: HandlerDeps): Response {
  return piecesResponse(turns, service.exportJsonl(caller), "application/jsonl; charset=utf-8");
}

export function exportResponse({ caller, turns }: Call, { service }: HandlerDeps): Response {
  return piecesResponse(turns, service.exportSwf(caller), "text/plain; charset=utf-8");
}

/**
 * Changes each job independently: if one cannot be changed, the others still are. Cancels in reverse order,
 * so that no job starts only because an earlier one was cancelled. If the client leaves, the remaining jobs
 * are not changed.
 */
export async function batchResponse(call: Call, { service }: HandlerDeps): Promise<Outcome> {
  const { caller, turns } = call;
  const body = call.body as c.BatchBody;
  const change = changeOf(body);
  if (isRefusal(change)) return change;
  const numbers = await numbersOf(call, service, body);
  if (isRefusal(numbers)) return numbers;
  if (change.action === "cancel") numbers.reverse();
  const results: object[] = [];
  for (let i = 0; i < numbers.length; i += CHANGES_IN_TURN) {
    const chunk = numbers.slice(i, i + CHANGES_IN_TURN);
    const { answers } = await turns.run(() => ({ answers: service.change(caller, change, chunk) }));
    const changed = await answers;
    if (isRefusal(changed) && i === 0) return changed;
    for (const [k, number] of chunk.entries())
      results.push(resultOf(number, isRefusal(changed) ? changed : changed[k]));
    if (!isRefusal(changed)) continue;
    for (const number of numbers.slice(i + CHANGES_IN_TURN)) results.push(resultOf(number, changed));
    break;
  }
  return listResponse(turns, "tutti.batch/1", "results", pagesOf(results, RESULTS_IN_PIECE));
}

/** Runs jobs again, all or none. */
export async function rerunResponse(call: Call, { service }: HandlerDeps): Promise<Outcome> {
  const { jobs, states = ENDED_STATES, key } = call.body as c.RerunBody;
  const numbers = await numbersOf(call, service, { jobs, states: states.filter(isEnded) });
  if (isRefusal(numbers)) return numbers;
  if (numbers.length === 0) {
    return refuse("not-found", `Cannot run jobs again: no job of ${JSON.stringify(jobs)} has ended`);
  }
  const answer = await service.rerun(call.caller, numbers, key);
  return isRefusal(answer) ? answer : submittedResponse(call, answer.jobs);
}

/** The jobs of a submit: those of a large array in pieces. */
export function submittedResponse({ turns }: Call, jobs: readonly Job[]): Outcome {
  if (jobs.length <= RESULTS_IN_PIECE) return { jobs: jobs.map(brief) };
  function* pages() {
    for (const page of pagesOf(jobs, RESULTS_IN_PIECE)) yield page.map(brief);
  }
  return listResponse(turns, "tutti.jobs/1", "jobs", pages(), undefined, 201);
}

/** The query of a list request. Without any filter except states: all live jobs and the last ended ones. */
function queryOf(query: Call["query"]): JobQuery | ApiRefusal {
  const { states, numbers, after, limit, last } = query;
  const ranges = numbers === undefined ? undefined : parseRanges(numbers);
  if (numbers !== undefined && ranges === undefined) return noNumbers(numbers);
  const filters = FILTERS.filter((name) => query[name] !== undefined);
  const isFiltered = ranges !== undefined || filters.length > 0;
  if (last !== undefined && isFiltered) {
    return refuse(
      "invalid",
      "Cannot combine last with numbers, name, queue or user: expected last alone or with states",
    );
  }
  if (limit !== undefined && after === undefined) {
    return refuse(
      "invalid",
      "Cannot use limit without after: expected both, such as after=0 for the first page",
    );
  }
  const most = Math.min(Number(limit ?? MAX_JOBS_PER_PAGE), MAX_JOBS_PER_PAGE);
  return {
    ...(states !== undefined && { states: states.split(",") as Job["state"][] }),
    ...(ranges !== undefined && { numbers: mergeRanges(ranges) }),
    ...Object.fromEntries(filters.map((name) => [name, query[name]])),
    ...(after !== undefined && { after: Number(after), most: Math.max(1, most) }),
    ...(last !== undefined && { last: Number(last) }),
    ...(after === undefined && last === undefined && !isFiltered && { lastEnded: LISTED_ENDED }),
  };
}

/** Resolves when the list is not empty, or when the request's waiting time is over. */
function untilAny(call: Call, service: Service, query: JobQuery): Promise<void> {
  const { caller, turns } = call;
  const { numbers, states } = query;
  // Checks only the job of the event, so that events of thousands of jobs cost little.
  const mayMatch = (job: number) => {
    if (numbers !== undefined && !holds(numbers, job)) return false;
    const info = service.job(caller, job);
    return isRefusal(info) || states === undefined || states.includes(info.state);
  };
  const isAnyNow = () => turns.through(isAny(service.list(caller, { ...query, most: 1 })));
  return waitUntil(call, service, LOOK_AGAIN_MS, isAnyNow, mayMatch);
}

/** Whether the list has any jobs or missing numbers. */
function* isAny(list: Generator<readonly Job[], ListEnd, void>): Generator<undefined, boolean, void> {
  for (let step = list.next(); ; step = list.next()) {
    if (step.done) return (step.value.missing ?? []).length > 0;
    if (step.value.length > 0) return true;
    yield undefined;
  }
}

/** An update of the priority alone is the older action, with its own event. */
export function updateOf(update: c.UpdateBody): Change {
  const { priority, ...rest } = update;
  const isPriority = priority !== undefined && Object.keys(rest).length === 0;
  return isPriority ? { action: "priority", priority } : { action: "update", update };
}

function changeOf({ action, priority, update, release, hold, signal }: c.BatchBody): Change | ApiRefusal {
  if (action === "update") {
    return update === undefined
      ? refuse("invalid", 'Cannot change jobs: the request has no update, expected one such as {"tasks": 8}')
      : updateOf(update);
  }
  if (action === "signal") {
    return signal === undefined
      ? refuse(
          "invalid",
          'Cannot send a signal: the request names none, expected one such as {"name": "SIGUSR1"}',
        )
      : { action, signal };
  }
  if (action === "pause") return { action, ...(release && { release }) };
  if (action === "requeue") return { action, ...(hold && { hold }) };
  if (action !== "priority") return { action };
  return priority === undefined
    ? refuse(
        "invalid",
        "Cannot change priorities: the request has no priority, expected a number from -100 to 100",
      )
    : { action, priority };
}

/**
 * The selected jobs in ascending order: the existing jobs in the ranges, and all single numbers, even without
 * a job.
 */
async function numbersOf(
  { caller, turns }: Call,
  service: Service,
  { jobs, states }: Pick<c.BatchBody, "jobs" | "states">,
): Promise<number[] | ApiRefusal> {
  const ranges = parseRanges(jobs);
  if (ranges === undefined) return noNumbers(jobs);
  const numbers = mergeRanges(ranges.filter(({ first, last }) => first < last));
  const existing = await turns.through(service.numbers(caller, { numbers, states }));
  const named = ranges.filter(({ first, last }) => first === last).map(({ first }) => first);
  const selected = [...new Set([...existing, ...named])].sort((a, b) => a - b);
  if (selected.length <= MAX_JOBS_PER_BATCH) return selected;
  return refuse(
    "too-large",
    `Cannot change ${selected.length} jobs in one request, expected at most ${MAX_JOBS_PER_BATCH}; send several requests`,
  );
}

function resultOf(number: number, answer: Answer<Job>): object {
  return isRefusal(answer) ? { number, ...answer } : { number, job: brief(answer) };
}

function noNumbers(text: string): ApiRefusal {
  return refuse(
    "invalid",
    `Cannot use the job numbers ${JSON.stringify(text.slice(0, 100))}: expected numbers from 1, such as 3-9,12`,
  );
}
