/**
 * Tests that a job on a node of a cluster reads what a front end sends: every byte once, also of what is
 * sent twice and after kills, and no more than the job has room for. Real conductors and processes.
 */
import { createHash, randomBytes } from "node:crypto";
import { signal } from "@tutti/host/processes.ts";
import type { InputPiece, LaunchSpec } from "@tutti/protocol/attempts.ts";
import { sizeFrame, typedFrames } from "@tutti/protocol/input/frames.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAN_MAKE_NODES, ClusterStage } from "./cluster-stage.ts";
import { until } from "./stage.ts";

const PIECE_BYTES = 30_000;

describe.skipIf(!CAN_MAKE_NODES)("input on a cluster (as root, where namespaces can be made)", () => {
  let s: ClusterStage;
  beforeEach(async () => {
    s = new ClusterStage(1);
    await s.ready(100);
  });
  afterEach(async () => {
    await s.clear();
  });

  async function launch(job: number, script: string, input: LaunchSpec["input"]): Promise<void> {
    s.node(0).link.send({ type: "launch", spec: s.spec(job, script, { input }) });
    await s.turn(s.matrix([[{ job, attempt: 1, cpus: [0] }]]));
  }

  /** Sends a piece. @returns the answer */
  async function send(job: number, piece: InputPiece) {
    const { link } = s.node(0);
    const answers = () => link.all("input-taken").filter(({ writer }) => writer === piece.writer);
    const before = answers().length;
    link.send({ type: "input", attempt: { job, attempt: 1 }, ...piece });
    await until("an answer", () => answers().length > before || link.closed, 20_000);
    return answers()[before];
  }

  test("a job reads every byte once, although pieces come twice and the conductor is killed", async () => {
    const node = s.node(0);
    await launch(1, "sha256sum; wc -c < /dev/null", "pipe");
    const bytes = randomBytes(20 * PIECE_BYTES + 17);
    let taken = 0;
    for (let i = 0; taken < bytes.length; i++) {
      const conductor = node.conductorPid();
      if (i === 7) {
        // It dies with a piece of which nobody knows how much it has written.
        const data = bytes.subarray(taken, taken + PIECE_BYTES).toString("base64");
        node.link.send({ type: "input", attempt: { job: 1, attempt: 1 }, writer: "w", offset: taken, data });
        await new Promise((resolve) => setTimeout(resolve, 2));
        signal(conductor, "SIGKILL");
        await until("another conductor is there", () => ![0, conductor].includes(node.conductorPid()));
        await node.connect();
      }
      // A front end that was started again sends what it has no answer for, here also what was taken.
      const offset = i % 3 === 0 ? Math.max(0, taken - 1000) : taken;
      const data = bytes.subarray(offset, offset + PIECE_BYTES).toString("base64");
      const answer = await send(1, { writer: "w", offset, data });
      expect(answer?.reader).not.toBe("closed");
      taken = Math.max(taken, answer?.taken ?? 0);
    }
    expect(taken).toBe(bytes.length);
    expect((await send(1, { writer: "w", offset: taken, end: true }))?.reader).toBe("open");
    expect(await s.end(node, 1)).toMatchObject({ code: 0 });
    const sum = createHash("sha256").update(bytes).digest("hex");
    expect(s.out(1)).toBe(`${sum}  -\n0\n`);
  });

  test("what a job does not read stays with the client; when it reads nothing more, that is closed", async () => {
    await launch(2, "head -c 5; exec < /dev/null; until [ -e go ]; do sleep 0.05; done", "pipe");
    const data = Buffer.alloc(60_000, "x").toString("base64");
    let taken = 0;
    let reader: string | undefined;
    for (let i = 0; i < 20 && reader !== "closed"; i++) {
      const answer = await send(2, { writer: "w", offset: taken, data });
      taken = answer?.taken ?? taken;
      reader = answer?.reader;
    }
    expect(reader).toBe("closed");
    // Two pipes of 64 KiB and the feeder's buffer, not all that was sent.
    expect(taken).toBeLessThan(3 * 65_536 + 60_000);
    expect(s.out(2)).toBe("xxxxx");
  });

  test("a job in no row takes what a pipe has room for, and goes on when it has its turns again", async () => {
    await launch(3, "wc -c", "pipe");
    const piece = Buffer.alloc(60_000, "y").toString("base64");
    expect((await send(3, { writer: "w", offset: 0 }))?.reader).toBe("open");
    const at = await s.turn(s.matrix([[]]));
    await s.untilSlot(at + 2);
    let taken = 0;
    for (;;) {
      const answer = await send(3, { writer: "w", offset: taken, data: piece });
      if (answer === undefined || answer.taken === taken) break;
      taken = answer.taken;
    }
    expect(taken).toBeLessThan(3 * 65_536);
    await s.turn(s.matrix([[{ job: 3, attempt: 1, cpus: [0] }]]));
    while (taken < 300_000) {
      const data = Buffer.alloc(Math.min(60_000, 300_000 - taken), "y").toString("base64");
      taken = (await send(3, { writer: "w", offset: taken, data }))?.taken ?? taken;
    }
    await send(3, { writer: "w", offset: taken, end: true });
    expect(await s.end(s.node(0), 3)).toMatchObject({ code: 0 });
    expect(s.out(3)).toBe("300000\n");
  });

  test("a terminal has its size and what is typed, once", async () => {
    await launch(4, 'stty size; read -r line; echo "read $line"; read -r line', "terminal");
    const typed = ["hello\n", "bye\n"].flatMap((line) => [...typedFrames(Buffer.from(line))]);
    let offset = 0;
    for (const [i, frame] of [sizeFrame(33, 99), ...typed].entries()) {
      // The job ends with the last one.
      for (let times = i < 2 ? 2 : 1; times > 0; times--) {
        const data = Buffer.from(frame).toString("base64");
        expect((await send(4, { writer: "w", offset, data }))?.reader).toBe("open");
      }
      offset += frame.length;
    }
    expect(await s.end(s.node(0), 4)).toMatchObject({ code: 0 });
    expect(s.out(4).replaceAll("\r", "")).toBe("33 99\nhello\nread hello\nbye\n");
  });

  test("nothing is taken for a job that is not there yet, or has ended", async () => {
    const early = send(6, { writer: "w", offset: 0, data: "eA==" });
    await launch(6, "cat", "pipe");
    expect(await early).toMatchObject({ taken: 1, reader: "open" });
    await send(6, { writer: "w", offset: 1, end: true });
    await s.end(s.node(0), 6);
    expect(s.out(6)).toBe("x");
    expect((await send(6, { writer: "w", offset: 1, data: "eA==" }))?.reader).toBe("closed");
    expect(await send(7, { writer: "w", offset: 0, data: "eA==" })).toMatchObject({
      taken: 0,
      reader: "not-yet",
    });
  });
});
