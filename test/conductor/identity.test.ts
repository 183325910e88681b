/**
 * Tests that an attempt keeps its own result if the store or a folder is older. The number of an attempt can
 * then be reused; its identity cannot.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { identityOf, isAlive, signal } from "@tutti/host/processes.ts";
import { readIdentity } from "@tutti/live/conductor/attempts/claim.ts";
import { openContainment } from "@tutti/live/conductor/freezers/open-containment.ts";
import type { AttemptState, LaunchSpec } from "@tutti/protocol/attempts.ts";
import type { FromConductor } from "@tutti/protocol/conductor.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Stage, until } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = new Stage();
  await stage.ready();
});
afterEach(() => stage.killJobs());
afterAll(async () => expect(await stage.clear()).toEqual([]));

const newIdentity = () => randomBytes(16).toString("hex");

async function nextConductor(before: number): Promise<void> {
  await until("another conductor", () => stage.client.connected && stage.conductorPid() !== before);
}

/** Kills the conductor, removes its saved state and waits for the next conductor. */
async function forgetEverything(): Promise<void> {
  const before = stage.conductorPid();
  signal(before, "SIGKILL");
  writeFileSync(join(stage.home, "state.json"), "");
  await nextConductor(before);
}

function stateOf(spec: LaunchSpec): AttemptState | undefined {
  return stage.messages
    .findLast((message) => message.type === "state")
    ?.attempts.find(({ job }) => job === spec.job);
}

describe("a number that was given before", () => {
  test("the result of the job that had it is not taken for that of the new one, whose command never ran", async () => {
    const s = stage;
    s.turn([[1]]);
    const old = s.launch(1, "echo old");
    expect(await s.end(1)).toMatchObject({ code: 0, identity: old.identity });
    s.client.send({ type: "forget", attempt: s.key(1) });
    const ran = join(s.folder, "new-ran");
    const spec = s.spec(1, ["sh", "-c", `: > ${ran}; exit 9`], { identity: newIdentity() });
    s.client.send({ type: "launch", spec });
    await until("it has an end", () => s.ends(1).length === 2);
    expect(s.ends(1)[1]).toMatchObject({
      lost: expect.stringContaining("files of another attempt"),
      neverBegan: true,
      identity: spec.identity,
    });
    expect(s.ends(1)[1]).not.toHaveProperty("code");
    expect(() => readFileSync(ran)).toThrow("ENOENT");
  });

  test("nor is a claim with an exit of the first release, which have no identity", async () => {
    const s = stage;
    s.turn([[1]]);
    const spec = s.spec(1, ["sh", "-c", "exit 9"]);
    symlinkSync("a-boot:1:1", join(spec.folder, "claim"));
    writeFileSync(join(spec.folder, "exit"), "0\n");
    s.client.send({ type: "launch", spec });
    expect(await s.end(1)).toMatchObject({ neverBegan: true });
    expect(readlinkSync(join(spec.folder, "claim"))).toBe("a-boot:1:1");
  });

  test.each(["known to this conductor", "of a conductor that died without a memory"])(
    "the job that has it now, %s, runs on unharmed to its own end",
    async (whose) => {
      const s = stage;
      s.turn([[1]]);
      const old = s.launch(1, 'until [ -e "$TUTTI_TEST_FOLDER/go" ]; do sleep 0.05; done; exit 5', {
        env: { PATH: process.env.PATH ?? "", TUTTI_TEST_FOLDER: s.folderOf(1) },
      });
      const ofOld = () => s.ends(1).filter(({ identity }) => identity === old.identity);
      const ofNew = () => s.ends(1).filter(({ identity }) => identity !== old.identity);
      await s.begun(1);
      const shim = readIdentity(old, "claim")!;
      if (whose !== "known to this conductor") await forgetEverything();
      s.turn([[1]]);
      const identity = newIdentity();
      s.client.send({ type: "launch", spec: s.spec(1, ["sh", "-c", "exit 9"], { identity }) });
      await until("the new one is refused", () => ofNew().length > 0);
      expect(ofNew()[0]).toMatchObject({
        identity,
        lost: expect.stringContaining("never ran"),
        neverBegan: true,
      });
      // Later messages of a front end about the new attempt must not affect the old one either.
      const attempt = s.key(1);
      s.client.send({ type: "stop", attempt, kill: true, reason: "cancelled", identity });
      s.client.send({ type: "forget", attempt, identity });
      s.client.send({ type: "launch", spec: old });
      writeFileSync(join(old.folder, "go"), "");
      await until("the old one has ended", () => ofOld().length > 0);
      expect(ofOld()[0]).toMatchObject({ code: 5, reason: "none" });
      expect(isAlive(shim)).toBe(false);
    },
  );

  test("a job that waits at its gate neither starts nor runs another command because of a job with the same number", async () => {
    const s = stage;
    s.turn([[]]);
    const old = s.launch(1, "echo old; exit 4");
    await until("it waits", () => readIdentity(old, "job") !== undefined);
    await forgetEverything();
    const spec = s.spec(1, ["sh", "-c", "echo new"], { identity: newIdentity() });
    s.client.send({ type: "launch", spec });
    expect(await s.end(1)).toMatchObject({ neverBegan: true, identity: spec.identity });
    s.client.send({ type: "forget", attempt: s.key(1), identity: spec.identity! });
    s.turn([[1]]);
    s.client.send({ type: "launch", spec: old });
    await until("the old one has ended", () => s.ends(1).length === 2);
    expect(s.ends(1)[1]).toMatchObject({ code: 4, identity: old.identity });
    expect(s.out(1)).toBe("old\n");
  });
});

test("a number whose earlier processes are no longer known: they live, and the new job does not join them", async ({
  skip,
}) => {
  const s = stage;
  const groups = openContainment(s.home)?.groups;
  if (groups?.of("freezer") === undefined) skip();
  else {
    const { job, attempt } = s.key(1);
    const other = spawn("sleep", ["1000"], { stdio: "ignore" });
    try {
      groups.make(`${job}.${attempt}`);
      expect(await groups.join(`${job}.${attempt}`, other.pid!)).toBe(true);
      s.turn([[1]]);
      s.launch(1, "exit 9");
      expect(await s.end(1)).toMatchObject({
        lost: expect.stringContaining("are still running"),
        neverBegan: true,
      });
      expect(identityOf(other.pid!)).toBeDefined();
    } finally {
      other.kill("SIGKILL");
    }
  }
});

describe("an identity", () => {
  test("is kept by the next conductor, from its memory and from the folder, and the attempt runs once", async () => {
    const s = stage;
    s.turn([[1, [2, 1]]]);
    const specs = [1, 2].map((job) =>
      s.launch(job, `echo ran >> ran${job}; until [ -e ready ]; do sleep 0.05; done; exit ${job}`),
    );
    await s.begun(1);
    await s.begun(2);
    const before = s.conductorPid();
    signal(before, "SIGKILL");
    await nextConductor(before);
    for (const spec of specs) {
      expect(stateOf(spec)).toMatchObject({
        identity: spec.identity,
        phase: "running",
        about: { command: spec.command, cwd: spec.cwd, folder: spec.folder, startedAtMs: expect.any(Number) },
      });
    }
    await forgetEverything();
    s.turn([[1, [2, 1]]]);
    for (const spec of specs) s.client.send({ type: "launch", spec });
    writeFileSync(join(s.folder, "ready"), "");
    for (const job of [1, 2]) {
      expect(await s.end(job)).toMatchObject({ code: job, identity: s.identity(job) });
      expect(readFileSync(join(s.folder, `ran${job}`), "utf8")).toBe("ran\n");
    }
  });

  test("that is not valid is refused", async () => {
    const s = stage;
    const refused = (message: FromConductor) =>
      message.type === "refused" && /identity/.test(message.message);
    const spec = s.spec(1, ["true"], { identity: "$(reboot)" });
    s.client.send({ type: "launch", spec });
    await until("it is refused", () => s.messages.some(refused));
    s.client.send({ type: "launch", spec: { ...spec, identity: newIdentity() } });
    s.turn([[1]]);
    await s.end(1);
  });

  test("is not required by a front end of the first release: files without one are its own", async () => {
    const s = stage;
    s.turn([[1]]);
    const { identity: _, ...spec } = s.spec(1, ["sh", "-c", "exit 3"]);
    s.client.send({ type: "launch", spec });
    const end = await s.end(1);
    expect(end).toMatchObject({ code: 3 });
    expect(end).not.toHaveProperty("identity");
    expect(readFileSync(join(spec.folder, "exit"), "utf8").trim()).toBe("3");
    expect(readlinkSync(join(spec.folder, "claim")).split(":")).toHaveLength(3);
  });
});

test("a folder that names this very process as its shim: nothing is done to it", async () => {
  const s = stage;
  s.turn([[1]]);
  const spec = s.spec(1, ["sh", "-c", "exit 9"]);
  const { bootId, pid, startTicks } = identityOf(process.pid)!;
  symlinkSync(`${bootId}:${pid}:${startTicks}:${spec.identity}`, join(spec.folder, "claim"));
  mkdirSync(join(spec.folder, "exit"));
  s.client.send({ type: "launch", spec });
  const end = await s.end(1);
  expect(end.lost).toContain(`claimed for process ${process.pid}, which is not the shim`);
  expect(end.neverBegan).toBeUndefined();
});
