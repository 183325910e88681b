/** Tests connectors with a script in the place of srun or ssh. */

import { systemClock } from "@tutti/host/clock.ts";
import { afterEach, expect, test, vi } from "vitest";
import { Connector } from "./connector.ts";

const PONG = '{"type":"pong","id":1,"nowMs":2}';
let connector: Connector | undefined;
afterEach(() => connector?.close());

/** What a link reports, with the script as the program of the provider. */
function connect(script: string | undefined, preface?: (line: string) => boolean): string[] {
  const reports: string[] = [];
  connector = new Connector({
    node: "n1",
    clock: systemClock,
    way: {
      command: () => (script === undefined ? "there is no pilot" : ["/bin/sh", "-c", script]),
      env: process.env,
      lastWords: (stderr) => stderr.trim().split("\n").at(-1) ?? "",
      ...(preface !== undefined && { preface }),
    },
    listener: {
      opened: () => {
        reports.push("opened");
        connector?.send({ type: "ping", id: 1 });
      },
      message: (message) => reports.push(message.type),
      closed: (because) => reports.push(`closed: ${because}`),
    },
  });
  return reports;
}

test("joins the streams, and connects again when they end", async () => {
  const reports = connect(`read line && echo '${PONG}'`);
  await vi.waitFor(() => expect(reports.length).toBeGreaterThanOrEqual(5), 120_000);
  expect(reports.slice(0, 5)).toEqual(["opened", "pong", "closed: sh ended with status 0", "opened", "pong"]);
  expect(connector!.lastHeardMs).toBeGreaterThan(systemClock.nowMs() - 5000);
});

test("says why, in the words of the program on the node", async () => {
  const reports = connect('echo "no conductor" >&2; exit 1');
  await vi.waitFor(() => expect(reports).toContain("closed: no conductor"), 120_000);
});

test("a program that sends anything else is ended", async () => {
  const reports = connect("echo Welcome to this cluster; exec sleep 100");
  await vi.waitFor(
    () => expect(reports).toContain("closed: what arrives is not a message of a conductor"),
    120_000,
  );
});

test("gives the provider what comes before the messages", async () => {
  const preface: string[] = [];
  const reports = connect(`echo Welcome; echo '{}'; echo go; echo '${PONG}'; cat > /dev/null`, (line) => {
    preface.push(line);
    return line === "go";
  });
  await vi.waitFor(() => expect(reports).toEqual(["opened", "pong"]), 120_000);
  expect(preface).toEqual(["Welcome", "{}", "go"]);
});

test("waits while there is no pilot", async () => {
  const reports = connect(undefined);
  await vi.waitFor(() => expect(reports).toContain("closed: there is no pilot"), 120_000);
});

test("after close, it neither reports nor connects again, and its program has read the end", async () => {
  const reports = connect(`echo '${PONG}'; cat > /dev/null; echo '${PONG}'`);
  await vi.waitFor(() => expect(reports).toContain("pong"), 120_000);
  connector!.close();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(reports).toEqual(["opened", "pong"]);
});
