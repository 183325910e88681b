/** What `bench/web-matrix.ts` asks of the page that it drives. */
import type { MatrixRecord } from "@tutti/lab/results/matrix-record.ts";

export interface BenchPage {
  /** Plays a recorded matrix. */
  play(record: Pick<MatrixRecord, "snapshots" | "busiest">, processors: number): void;
  /** Draws a matrix full of gangs and lets its rows turn. */
  show(rows: number, processors: number, slotMs: number, heightPx: number): void;
  /** One gang leaves, another one comes, and a legal exchange moves gangs between two rows. */
  change(): void;
  /** Lets the page run, with a change every `changeMs`. */
  measure(forMs: number, changeMs: number): Promise<FrameNumbers>;
}

/**
 * Time of the page's thread in each frame: from its callback until the picture is handed over, with style,
 * layout and paint, and with waits for a processor.
 */
export interface FrameNumbers {
  readonly framesPerS: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
}
