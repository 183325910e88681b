/**
 * A program for contributing.test.ts: prints where a field `niceness` is found that somebody has added to the
 * table of a job's fields.
 */

import { readJobs } from "@tutti/cli/options/read-jobs.ts";
import { givenFields, submitJob as jobOfScript, parseOptions } from "@tutti/cli/options/submit-options.ts";
import { readWorkflow } from "@tutti/cli/options/workflow.ts";
import { chosenColumns } from "@tutti/cli/text/job-columns.ts";
import { updatedText } from "@tutti/cli/text/updated-text.ts";
import { openApiDocument } from "@tutti/live/api/server/answers/openapi.ts";
import { answerOf, makeBench, ROOT, request } from "@tutti/live/daemon/front-end/front-end-for-tests.ts";
import { specOf } from "@tutti/live/daemon/store/rows.ts";
import type { DaemonEvent } from "@tutti/protocol/events.ts";
import { issueText } from "@tutti/protocol/issue-text.ts";
import { type Job, type SubmitJob, submitJob, type UpdateBody } from "@tutti/protocol/schema.ts";
import { NO_TEXTS, readTexts } from "@tutti/web/live/jobs/job-request.ts";
import { eventSentence } from "@tutti/words/event-sentences.ts";
import { jobFacts } from "@tutti/words/jobs.ts";

type Asked = SubmitJob & { readonly niceness?: number };
const update = { niceness: 9 } as UpdateBody;

const script: Asked = await jobOfScript("submit", ["job.sh"], {}, ["submit", "job.sh"]);
const flow = await readWorkflow("flow.toml", {});
const [json]: readonly Asked[] = await readJobs("jobs.json", { cwd: "/", env: {}, umask: "022" }, {});
const option: Asked = {
  ...request(),
  ...givenFields(parseOptions(["--niceness", "7"], (text) => new Error(text) as never)),
};
const bench = makeBench({ config: { policy: "fcfs" } });
const refusal = submitJob.safeParse({ ...option, niceness: 20 }, { error: issueText });
const submit = (job: SubmitJob) => answerOf(bench.clock, bench.frontEnd.submit(ROOT, [job]));
if (!("jobs" in (await submit({ ...request(), tasks: 4 })))) throw new Error("refused");
const answer = await submit({ ...option, tasks: 4 });
if (!("jobs" in answer)) throw new Error(answer.message);
const { job } = answer.jobs[0];
const events: DaemonEvent[] = [];
bench.frontEnd.listen(ROOT, bench.frontEnd.latestEvent(), (event) => events.push(event));
await answerOf(bench.clock, bench.frontEnd.change(ROOT, { action: "update", update }, [job]));
const [changed] = bench.frontEnd.jobs(ROOT, {}).filter((one) => one.job === job) as (Job & Asked)[];
const event = events.find(({ kind }) => kind === "updated")!;
const [column] = chosenColumns({ names: ["niceness"], hasHeading: false });
const { components } = openApiDocument("") as unknown as Document;

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, { readonly properties?: object }>> };
}

console.log(
  JSON.stringify({
    script: script.niceness,
    workflow: (flow.tasks[0].job as Asked).niceness,
    json: json.niceness,
    refused: refusal.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`),
    answer: (answer.jobs[0] as Job & Asked).niceness,
    stored: JSON.parse(specOf({ ...changed, niceness: 9 } as never)).niceness,
    changed: eventSentence(event, "job 2"),
    updated: updatedText(changed, update),
    fact: jobFacts(changed).find(([name]) => name === "niceness"),
    column: column.textOf(changed),
    form: readTexts({ ...NO_TEXTS, niceness: "3" } as typeof NO_TEXTS, 0),
    document: Object.entries(components.schemas)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([name, { properties = {} }]) => ("niceness" in properties ? [name] : [])),
  }),
);
