/** `tutti matrix [--watch]`: shows which job has which CPU in each row of the matrix. */

import { sleep } from "@tutti/host/sleep.ts";
import { Client } from "@tutti/live/api/client/client.ts";
import type { MatrixAnswer, StatusAnswer } from "@tutti/protocol/schema.ts";
import { nodeWarnings } from "@tutti/words/status.ts";
import type { Command } from "commander";
import { ExitCode } from "../errors.ts";
import { ReconnectingClient } from "../live/reconnecting-client.ts";
import { untilSignal } from "../live/signals.ts";
import { matrixText } from "../text/matrix-text.ts";
import { hint, tableOptions, writeJson, writeOut } from "../text/text.ts";

/**
 * Shortest and longest time between two redraws: as fast as the eye can follow, as slow as people will wait.
 */
const MIN_REDRAW_MS = 100;
const MAX_REDRAW_MS = 1000;

export function configure(command: Command): void {
  command
    .option("-w, --watch", "redraw the matrix while the rows take turns, until Ctrl-C")
    .option("--json", "print as JSON")
    .action(async ({ watch = false, json }: { readonly watch?: boolean; readonly json?: boolean }) => {
      if (watch && !json) {
        const interrupt = untilSignal(["SIGINT", "SIGTERM"]);
        const connection = new ReconnectingClient("tutti matrix --watch", { signal: interrupt });
        const ask = () => connection.retry((client) => client.ask<MatrixAnswer>("/v1/matrix"));
        await watchMatrix(ask, interrupt, process.stdout);
        // The terminal has printed ^C after the matrix.
        if (process.stdout.isTTY) writeOut("\n");
        process.exitCode = ExitCode.interrupted;
        return;
      }
      const client = new Client();
      const matrix = await client.ask<MatrixAnswer>("/v1/matrix");
      if (json) return writeJson(matrix);
      writeOut(draw(matrix));
      if (matrix.nodes === undefined) return;
      // The rows say who has which turn, also while a gang of a silent node does not take it.
      const { nodes = [] } = await client.ask<StatusAnswer>("/v1/status");
      for (const warning of nodeWarnings(nodes)) hint(warning);
    });
}

/**
 * Redraws in place on a terminal; elsewhere prints the matrix whenever it has changed.
 * @param stop ends the watch
 * @param below returns the text to show below the matrix
 * @param showsEnd whether to draw once more at the end, with what has changed meanwhile
 */
export async function watchMatrix(
  ask: () => Promise<MatrixAnswer>,
  stop: AbortSignal,
  to: NodeJS.WriteStream,
  below: () => string = () => "",
  showsEnd: () => boolean = () => false,
): Promise<void> {
  const isTerminal = to.isTTY === true;
  if (isTerminal) to.write("\u001b[?25l\u001b[2J");
  let before = "";
  const show = async (): Promise<MatrixAnswer> => {
    const matrix = await ask();
    const picture = draw(matrix) + below();
    if (isTerminal) to.write(`\u001b[H${picture.replaceAll("\n", "\u001b[K\n")}\u001b[J`);
    else if (picture !== before) to.write(`${picture}\n`);
    before = picture;
    return matrix;
  };
  try {
    while (!stop.aborted) {
      const matrix = await show();
      await sleep(Math.max(MIN_REDRAW_MS, Math.min(MAX_REDRAW_MS, matrix.slotMs)), stop);
    }
  } catch (error) {
    if (!stop.aborted) throw error;
  } finally {
    if (isTerminal) to.write("\u001b[?25h");
  }
  if (showsEnd()) await show();
}

function draw(matrix: MatrixAnswer): string {
  return matrixText(matrix, { ...tableOptions(), nowMs: matrix.nowMs });
}
