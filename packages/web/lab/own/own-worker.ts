/** Starts the workers of a policy that was typed into the page, and ends those that make no progress. */
import { InputError } from "@tutti/kernel/core/errors.ts";
import { trustedUrl } from "../../page/trusted.ts";
import { Cancelled } from "../cancelled.ts";
import { ownScript, partUrl } from "../scripts.ts";
import { type Erased, OWN_PATH, type OwnQuestions, type OwnReply } from "./messages.ts";

/** A worker that is silent for this long is ended. */
const SILENCE_MS = 10_000;

const working = new Set<() => void>();

/**
 * Asks a fresh worker, so that a policy cannot remember an earlier run.
 * @param code of the policy, without types
 * @throws InputError if the policy fails or makes no progress, or Cancelled
 */
export function askOwn<T extends keyof OwnQuestions>(
  code: string,
  topic: T,
  asks: OwnQuestions[T]["asks"],
  onProgress: (share: number) => void = () => {},
): Promise<OwnQuestions[T]["answer"]> {
  const url = URL.createObjectURL(
    new Blob(
      [
        `globalThis.tuttiOwnPolicy = function (exports, require) { "use strict";\n${code}\n};\n${ownScript()}`,
      ],
      {
        type: "text/javascript",
      },
    ),
  );
  const worker = new Worker(trustedUrl(url));
  let timer: ReturnType<typeof setTimeout> | undefined;
  let end = () => {};
  const asked = new Promise<OwnQuestions[T]["answer"]>((resolve, reject) => {
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const silent = `it made no progress for ${SILENCE_MS / 1000} s`;
        reject(
          new InputError(`Cannot continue with policy "${OWN_PATH}": ${silent}, expected a faster decision`),
        );
      }, SILENCE_MS);
    };
    end = () => reject(new Cancelled());
    working.add(end);
    wait();
    worker.onerror = ({ message, lineno }) =>
      reject(new InputError(`Cannot load policy "${OWN_PATH}": line ${lineno - 1}: ${message}`));
    worker.onmessage = ({ data }: MessageEvent<OwnReply>) => {
      if ("share" in data) {
        wait();
        onProgress(data.share);
      } else if ("failure" in data) reject(new InputError(data.failure));
      else resolve(data.answer as OwnQuestions[T]["answer"]);
    };
    worker.postMessage({ topic, ...asks });
  });
  return asked.finally(() => {
    clearTimeout(timer);
    working.delete(end);
    worker.terminate();
    URL.revokeObjectURL(url);
  });
}

/** Ends all of them. What was asked fails with Cancelled. */
export function endOwn(): void {
  for (const end of [...working]) end();
}

/** @throws InputError with line and column if the text is not TypeScript */
export async function eraseTypes(text: string): Promise<string> {
  const worker = new Worker(trustedUrl(await partUrl("erase-types")));
  try {
    const erased = await new Promise<Erased>((resolve, reject) => {
      const late = () => reject(new InputError(`Cannot read policy "${OWN_PATH}": it is too long`));
      setTimeout(late, SILENCE_MS);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.onmessage = ({ data }: MessageEvent<Erased>) => resolve(data);
      worker.postMessage(text);
    });
    if ("problem" in erased) throw new InputError(`Cannot read policy "${OWN_PATH}": ${erased.problem}`);
    await requireComplete(erased.code);
    return erased.code;
  } finally {
    worker.terminate();
  }
}

const COMPLETE = "tutti: complete";

/**
 * The code becomes the body of a function. Only the browser's own parser says for certain that it does not
 * end that function early. The script below is parsed whole, and ends before any of the code runs.
 */
async function requireComplete(code: string): Promise<void> {
  const script = `"use strict"; throw ${JSON.stringify(COMPLETE)};\n${code}`;
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const worker = new Worker(trustedUrl(url));
  try {
    const { message, lineno, colno } = await new Promise<ErrorEvent>((resolve) => {
      worker.onerror = (event) => {
        event.preventDefault();
        resolve(event);
      };
    });
    if (message.includes(COMPLETE)) return;
    throw new InputError(`Cannot read policy "${OWN_PATH}": line ${lineno - 1}, column ${colno}: ${message}`);
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
}
