/** Tests what a user's signal to a job becomes, and when it is refused. */
import { expect, test } from "vitest";
import { ANNA, answerOf, BEN, makeBench, request } from "./front-end-for-tests.ts";

const fcfs = { config: { policy: "fcfs" } };
const script = { base64: Buffer.from("#!/bin/sh\n").toString("base64"), word: 0 };

test("a running job's processes get it once, those of steps only if a script starts them", async () => {
  const { clock, frontEnd, machine } = makeBench(fcfs);
  await answerOf(clock, frontEnd.submit(ANNA, [request({ script }), request({})]));
  for (const to of ["steps", "script", undefined] as const)
    await answerOf(
      clock,
      frontEnd.change(ANNA, { action: "signal", signal: { name: "SIGUSR1", ...(to && { to }) } }, [1, 2]),
    );
  const sent = machine.sent.flatMap((command) =>
    command.type === "signal" ? [`${command.attempt.job} ${command.name} ${command.to}`] : [],
  );
  expect(sent).toEqual(
    ["1 steps", "2 all", "1 first", "2 first", "1 all", "2 all"].map((text) =>
      text.replace(" ", " SIGUSR1 "),
    ),
  );
});

test("others' jobs, waiting jobs and jobs out of reach get none, and nothing is recorded", async () => {
  const { clock, frontEnd, machine } = makeBench(fcfs);
  await answerOf(clock, frontEnd.submit(ANNA, [request({}), request({ held: true })]));
  const before = frontEnd.latestEvent();
  const signal = (caller: typeof ANNA) =>
    answerOf(clock, frontEnd.change(caller, { action: "signal", signal: { name: "SIGUSR1" } }, [1, 2]));
  expect(await signal(BEN)).toMatchObject([{ refused: "not-found" }, { refused: "not-found" }]);
  expect(await signal(ANNA)).toMatchObject([
    { job: 1, state: "running" },
    { refused: "wrong-state", message: expect.stringContaining("only running jobs get signals") },
  ]);
  machine.capabilities = { ...machine.capabilities, signalsBeforeLimit: "they run elsewhere" };
  expect(await signal(ANNA)).toMatchObject([
    { message: "Cannot send SIGUSR1 to job 1: they run elsewhere" },
    { refused: "wrong-state" },
  ]);
  expect(machine.sent.filter(({ type }) => type === "signal")).toHaveLength(1);
  expect(frontEnd.latestEvent()).toBe(before);
});
