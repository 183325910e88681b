import { expect, test } from "vitest";
import { mailOf } from "./mail.ts";

/** 2026-11-23 08:30:05 UTC, a Monday. */
const AT_MS = Date.UTC(2026, 10, 23, 8, 30, 5);

type News = Parameters<typeof mailOf>[0];

function news(data: Record<string, string>, more: Partial<News> = {}): News {
  return {
    ...{ id: "00017-abc", job: 12 },
    data: {
      ...{ TUTTI_JOB: "12", TUTTI_EVENT: "end", TUTTI_AT_MS: String(AT_MS), TUTTI_JOB_NAME: "train" },
      ...{ TUTTI_USER: "ada", TUTTI_JOB_STATE: "done", TUTTI_ATTEMPT: "1", TUTTI_CWD: "/home/ada", ...data },
    },
    target: "ada@example.org,bob",
    ...more,
  };
}
const subjectOf = (text: string) => /^Subject: (.*)$/m.exec(text)?.[1];

test("mailOf() writes headers and a plain text", () => {
  expect(
    mailOf(news({ TUTTI_JOB_STATE: "failed", TUTTI_EXIT_CODE: "3", TUTTI_REASON: "lost" }), "node1"),
  ).toBe(
    `To: ada@example.org,bob
Subject: Tutti: job 12 (train) has failed: exit code 3
Date: Mon, 23 Nov 2026 08:30:05 +0000
Message-ID: <tutti.00017-abc@node1>
Tutti-Event-Id: 00017-abc
Auto-Submitted: auto-generated
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

Job 12 has failed: exit code 3.

Name:    train
Reason:  lost
User:    ada
Machine: node1
Folder:  /home/ada
Time:    Mon, 23 Nov 2026 08:30:05 GMT

tutti show 12 says more, and tutti logs 12 shows its output.
`,
  );
});

test.each([
  [{ TUTTI_EVENT: "start", TUTTI_JOB_STATE: "running", TUTTI_ATTEMPT: "2" }, "has started"],
  [{ TUTTI_JOB_STATE: "done", TUTTI_EXIT_CODE: "0" }, "is done"],
  [{ TUTTI_JOB_STATE: "cancelled" }, "was cancelled"],
  [{ TUTTI_JOB_STATE: "failed", TUTTI_SIGNAL: "SIGSEGV" }, "has failed: ended by SIGSEGV"],
  [
    { TUTTI_JOB_STATE: "failed", TUTTI_EXIT_CODE: "3", TUTTI_REASON: "exit code 3" },
    "has failed: exit code 3",
  ],
  [{ TUTTI_JOB_STATE: "failed" }, "has failed"],
])("mailOf() %j", (data, ending) => {
  const text = mailOf(news(data), "node1");
  expect(subjectOf(text)).toBe(`Tutti: job 12 (train) ${ending}`);
  expect(text).not.toContain("Reason:");
});

test("mailOf() counts the jobs of an array", () => {
  const array = { last: 21, states: { done: 8, failed: 2 } };
  const text = mailOf(news({ TUTTI_REASON: "lost" }, { array }), "node1");
  expect(subjectOf(text)).toBe("Tutti: array 12 (train) has ended: 8 done, 2 failed");
  expect(text).toContain("\nArray 12 has ended: 8 done, 2 failed.\n");
  expect(text).toContain("\ntutti jobs 12-21 lists its jobs.\n");
  expect(text).not.toContain("lost");
});

test.each([
  ["a header", "x\nBcc: eve@example.org\r\n\r\nbody", "x?Bcc: eve@example.org????body"],
  ["words that a reader decodes", "=?utf-8?q?=0aBcc:_eve?=", "= ?utf-8?q?=0aBcc:_eve?="],
  ["other letters", "Größe \u202e日", "Gr??e ??"],
  ["a long name", "n".repeat(256), `${"n".repeat(40)}...`],
])("mailOf() keeps %s out of the headers", (_, name, shown) => {
  const text = mailOf(news({ TUTTI_JOB_NAME: name, TUTTI_CWD: `/${"ü".repeat(4000)}\n.\nFrom x` }), "a b");
  expect(subjectOf(text)).toBe(`Tutti: job 12 (${shown}) is done`);
  const [headers] = text.split("\n\n");
  expect(headers.match(/^[A-Za-z-]+(?=:)/gm)).toEqual(
    "To Subject Date Message-ID Tutti-Event-Id Auto-Submitted MIME-Version Content-Type Content-Transfer-Encoding".split(
      " ",
    ),
  );
  expect(headers).toContain("Message-ID: <tutti.00017-abc@localhost>");
  expect(headers).toMatch(/^[ -~\n]*$/);
  for (const line of text.split("\n")) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(998);
  expect(text.split("\n")).not.toContain(".");
  expect(text).toMatch(/^Name: {4}\S/m);
});
