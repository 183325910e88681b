/**
 * Writes the mail about an event of a job, as RFC 5322 wants it. What users chose, such as the name of the
 * job, can end no line and begin no header. The same event always gives the same mail, with the same id.
 */
import type { JobNumber } from "@tutti/protocol/attempts.ts";
import type { ArrayNews } from "../store/news.ts";

const MAX_NAME_IN_SUBJECT = 40;
/** RFC 5322 allows lines of 998 bytes; a character of UTF-8 has at most 4. */
const MAX_VALUE_LENGTH = 240;

/** What a mail is about. */
interface MailNews {
  readonly id: string;
  /** Variables that hooks get. */
  readonly data: Readonly<Record<string, string>>;
  /** Addresses. */
  readonly target: string;
  readonly job: JobNumber;
  /** The news is about a whole array, of which `job` is the first. */
  readonly array?: ArrayNews | undefined;
}

/** @param machine name of the machine, for the id and for readers */
export function mailOf({ id, data, target, job, array }: MailNews, machine: string): string {
  const { TUTTI_JOB_NAME: name = "", TUTTI_REASON: reason = "" } = data;
  const what = `${array === undefined ? "Job" : "Array"} ${job}`;
  const ending = endingOf(data, array);
  const hasReason = array === undefined && data.TUTTI_EVENT !== "start" && !ending.includes(reason);
  const at = new Date(Number(data.TUTTI_AT_MS)).toUTCString();
  const facts: Readonly<Record<string, string | undefined>> = {
    Name: name,
    Reason: hasReason ? reason : undefined,
    Attempt: array === undefined && Number(data.TUTTI_ATTEMPT) > 1 ? data.TUTTI_ATTEMPT : undefined,
    User: data.TUTTI_USER,
    Machine: machine,
    Folder: data.TUTTI_CWD,
    Time: at,
  };
  const lines = Object.entries(facts).flatMap(([fact, value]) =>
    value === undefined ? [] : [`${`${fact}:`.padEnd(9)}${inOneLine(value)}`],
  );
  return [
    // In one line: the mail agent dma takes only the addresses of the first.
    `To: ${target}`,
    `Subject: Tutti: ${what.toLowerCase()} (${inSubject(name)}) ${ending}`,
    `Date: ${at.replace("GMT", "+0000")}`,
    `Message-ID: <tutti.${id}@${/^[\w.-]+$/.test(machine) ? machine : "localhost"}>`,
    `Tutti-Event-Id: ${id}`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    `${what} ${ending}.`,
    "",
    ...lines,
    "",
    array === undefined
      ? `tutti show ${job} says more, and tutti logs ${job} shows its output.`
      : `tutti jobs ${job}-${array.last} lists its jobs.`,
    "",
  ].join("\n");
}

function endingOf(data: MailNews["data"], array: MailNews["array"]): string {
  if (data.TUTTI_EVENT === "start") return "has started";
  if (array !== undefined) {
    const counts = Object.entries(array.states).map(([state, count]) => `${count} ${state}`);
    return `has ended: ${counts.join(", ")}`;
  }
  const { TUTTI_JOB_STATE: state, TUTTI_EXIT_CODE: code, TUTTI_SIGNAL: signal } = data;
  if (state === "done") return "is done";
  if (state === "cancelled") return "was cancelled";
  if (signal !== undefined) return `has failed: ended by ${inSubject(signal)}`;
  return code === undefined ? "has failed" : `has failed: exit code ${code}`;
}

/** ASCII alone. Without `=?`, a reader decodes nothing. */
function inSubject(text: string): string {
  const short = text.length > MAX_NAME_IN_SUBJECT ? `${text.slice(0, MAX_NAME_IN_SUBJECT)}...` : text;
  return short.replaceAll(/[^ -~]/g, "?").replaceAll("=?", "= ?");
}

/** One line that steers no terminal. */
export function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, "?");
}

function inOneLine(text: string): string {
  const characters = [...withoutControls(text)];
  const short = characters.slice(0, MAX_VALUE_LENGTH).join("");
  return characters.length > MAX_VALUE_LENGTH ? `${short}...` : short;
}
