/**
 * Runs cells in a worker of the browser page, one after the other, as a worker thread of Node does, and makes
 * the files of pages.
 */
import "@tutti/papers/kinds.ts";
import { WITHOUT_FILES } from "@tutti/lab/experiments/inputs.ts";
import { CellRunner } from "@tutti/lab/experiments/runner.ts";
import { htmlFiles, markdownFiles } from "@tutti/lab/report/paper-files.ts";
import type { Answer, Question } from "./messages.ts";

const runner = new CellRunner(WITHOUT_FILES);

async function answer(question: Question): Promise<Answer> {
  try {
    if ("cell" in question) return { result: await runner.run(question.cell) };
    return { files: [...htmlFiles(question.papers), ...markdownFiles(question.papers)] };
  } catch (error) {
    return { failure: String((error instanceof Error && error.stack) || error) };
  }
}

addEventListener("message", async ({ data }: MessageEvent<Question>) => {
  postMessage(await answer(data));
});
