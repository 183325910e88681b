import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { expect, test } from "vitest";
import { attach, firstAnswer } from "./attach.ts";
import { newContent } from "./pilot-file.ts";
import { FakeSlurm } from "./slurm-for-tests.ts";

const MARK = "tutti:0123456789abcdef:1";
const STATE = { type: "state" } as FromConductor;
const HELD: FromConductor = { type: "refused", message: "Cannot", heldBy: "tutti serve on login1" };

function slurmWithPilot(): FakeSlurm {
  const slurm = new FakeSlurm();
  slurm.add("7", MARK);
  slurm.run("7");
  return slurm;
}

test("a pilot with a front end is refused with the name of that one, and nothing is kept", async () => {
  const content = newContent();
  const asked: string[] = [];
  const attaching = attach(slurmWithPilot(), content, "7", async (node, jobId, mark) => {
    expect([jobId, mark]).toEqual(["7", MARK]);
    asked.push(node);
    return node === "n1" ? undefined : HELD;
  });
  await expect(attaching).rejects.toThrow(
    "Cannot attach to the pilot 7: it is used by tutti serve on login1; expected a pilot without a front end",
  );
  expect(asked).toEqual(["n1", "n2"]);
  expect(content.pilots).toEqual([]);
});

test("a pilot without a front end is taken, also again; the first node that answers decides", async () => {
  const content = newContent();
  const asked: string[] = [];
  const ask = async (node: string) => {
    asked.push(node);
    return STATE;
  };
  await attach(slurmWithPilot(), content, "7", ask);
  expect(content.pilots).toEqual([{ mark: MARK, jobId: "7" }]);
  await attach(slurmWithPilot(), content, "7", ask);
  expect(content.pilots).toHaveLength(1);
  expect(asked).toEqual(["n1", "n1"]);
  await expect(attach(slurmWithPilot(), content, "7", async () => HELD)).rejects.toThrow("login1");
});

test("a waiting pilot is taken without a question; a job that is no pilot is refused", async () => {
  const slurm = new FakeSlurm();
  slurm.add("7", MARK);
  slurm.add("8", "mine");
  const never = () => Promise.reject(new Error("asked"));
  const content = newContent();
  await attach(slurm, content, "7", never);
  expect(content.pilots).toHaveLength(1);
  await expect(attach(slurm, newContent(), "8", never)).rejects.toThrow("it is not a pilot of Tutti");
  await expect(attach(slurm, newContent(), "9", never)).rejects.toThrow("Slurm does not know it");
  await expect(attach(slurm, content, "8", never)).rejects.toThrow("this state folder has the pilot 7");
});

test("the first answer of a connector is what counts, or its end without one", async () => {
  const hello = { frontEnd: "me", owner: "o" };
  const program = `process.stdin.once("data", (line) => console.log('{"type":"refused","message":"no","heldBy":' + JSON.stringify(JSON.parse(line).frontEnd) + '}\\nmore'))`;
  expect(await firstAnswer([process.execPath, "-e", program], hello)).toEqual({
    type: "refused",
    message: "no",
    heldBy: "me",
  });
  expect(await firstAnswer(["/bin/sh", "-c", "echo nonsense"], hello)).toBeUndefined();
  expect(await firstAnswer(["/bin/false"], hello)).toBeUndefined();
});
