import { Command } from "commander";
import { expect, test } from "vitest";
import type { ReconnectingClient } from "../live/reconnecting-client.ts";
import { LAST_JOB } from "../options/job-values.ts";
import { configure as configureRun } from "./run.ts";
import { configure as configureSubmit, submit } from "./submit.ts";

const JOB = { command: ["true"], cwd: "/", env: {}, umask: "077" };

test("--after last means the newest job, looked up once", async () => {
  const asked: unknown[] = [];
  const client = {
    jobs: async () => ({ jobs: [{ job: 41 }] }),
    ask: async (_: string, { body }: { body: unknown }) => {
      asked.push(body);
      return { jobs: [] };
    },
  };
  const connection = { retry: (act: (one: unknown) => unknown) => act(client) };
  const after = [
    { job: LAST_JOB, ok: true },
    { job: 7, ok: false },
  ];
  await submit(connection as unknown as ReconnectingClient, [{ ...JOB, after }]);
  expect(asked).toMatchObject([
    {
      jobs: [
        {
          after: [
            { job: 41, ok: true },
            { job: 7, ok: false },
          ],
        },
      ],
    },
  ]);
});

/** Options that only one of both commands has, with the reason. */
const ONLY_SUBMIT = {
  eachLine: "run shows one job: the output of several would be mixed",
  grid: "run shows one job",
  fromJson: "run shows one job",
  resume: "a workflow has several jobs",
  json: "run prints what the job prints",
  parsable: "run prints what the job prints",
};
const ONLY_RUN = {
  pty: "submit leaves its terminal at once",
  raw: "submit shows no output",
};

test("submit and run take the same options but for those that have a reason", () => {
  const [submit, run] = [configureSubmit, configureRun].map((configure) => {
    const command = new Command("verb");
    configure(command);
    return command.options.map((option) => option.attributeName());
  });
  expect(submit.filter((name) => !run.includes(name))).toEqual(Object.keys(ONLY_SUBMIT));
  expect(run.filter((name) => !submit.includes(name))).toEqual(Object.keys(ONLY_RUN));
});
