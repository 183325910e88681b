import { expect, test } from "vitest";
import type { ReconnectingClient } from "../live/reconnecting-client.ts";
import { LAST_JOB } from "../options/job-values.ts";
import { submit } from "./submit.ts";

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
