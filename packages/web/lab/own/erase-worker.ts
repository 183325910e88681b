/** Erases the types of a policy, in a worker: a hostile text can at most keep this worker busy. */

import { messageOf } from "@tutti/kernel/core/errors.ts";
import { transform } from "sucrase";
import type { Erased } from "./messages.ts";

addEventListener("message", ({ data }: MessageEvent<string>) => {
  postMessage(erase(data));
});

function erase(text: string): Erased {
  // In a script, unlike in a module, these begin a comment, which could hide the end of a function.
  const comment = text.split("\n").findIndex((line) => /<!-{2}|-{2}>/.test(line));
  if (comment >= 0)
    return { problem: `line ${comment + 1} contains an HTML comment sign, expected none in a module` };
  try {
    const { code } = transform(text, {
      transforms: ["typescript", "imports"],
      disableESTransforms: true,
      production: true,
    });
    return { code };
  } catch (error) {
    const message = messageOf(error);
    const found = /^(?:Error transforming .*?: )?(.*) \((\d+):(\d+)\)$/s.exec(message);
    if (found === null) return { problem: message };
    return { problem: `line ${found[2]}, column ${found[3]}: ${found[1]}` };
  }
}
