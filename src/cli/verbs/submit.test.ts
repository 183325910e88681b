/** Tests today's `tutti submit` with a scheduler of an earlier version. */
import { expect, test } from "vitest";
import { RefusedError } from "../../api/client/errors.ts";
import type { ReconnectingClient } from "../live/reconnecting-client.ts";
import { LAST_JOB } from "../options/job-values.ts";
import { submit } from "./submit.ts";

const JOB = { command: ["true"], cwd: "/", env: {}, umask: "077" };

function connectionOf(refusals: readonly string[]): {
  readonly connection: ReconnectingClient;
  readonly asked: unknown[];
} {
  const asked: unknown[] = [];
  const left = [...refusals];
  const client = {
    ask: async (_: string, { body }: { body: unknown }) => {
      asked.push(body);
      const message = left.shift();
      if (message !== undefined) throw new RefusedError("invalid", message);
      return { jobs: [] };
    },
  };
  return {
    asked,
    connection: { retry: (act: (one: unknown) => unknown) => act(client) } as unknown as ReconnectingClient,
  };
}

test("a scheduler of the first release does not know umask, so it gets the job without it, with the same key", async () => {
  const { connection, asked } = connectionOf(['Cannot use the body: jobs[0]: Unrecognized key: "umask"']);
  await submit(connection, [JOB]);
  const { umask: _, ...without } = JOB;
  const key = expect.any(String);
  expect(asked).toEqual([
    { jobs: [JOB], key },
    { jobs: [without], key },
  ]);
  const [first, second] = asked as { key: string }[];
  expect(second!.key).toBe(first!.key);
});

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

test("any other refusal is an error", async () => {
  const { connection, asked } = connectionOf(["jobs[0].tasks: Too small"]);
  await expect(submit(connection, [JOB])).rejects.toThrow("Too small");
  expect(asked).toHaveLength(1);
});
