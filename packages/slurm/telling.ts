/** Tells the listener how Slurm and the pilots are: each thing once. */
import type { ClusterListener } from "@tutti/live/daemon/executor/cluster/cluster.ts";
import { failureWaitMs, REPORTED_FAILURES } from "./pilot.ts";

export class Telling {
  #listener: ClusterListener | undefined;
  #failures = 0;
  #failure = "";
  /** What the listener knows; undefined: its own words. */
  #told: { readonly trouble?: string | undefined; readonly rests?: string | undefined } | undefined = {};

  start(listener: ClusterListener): void {
    this.#listener = listener;
  }

  /** Why the last question to Slurm had no answer; undefined: it had one. */
  get failure(): string | undefined {
    return this.#failures > 0 ? this.#failure : undefined;
  }

  /** Time until the next try after failures in a row; undefined: there were none. */
  get againMs(): number | undefined {
    return this.#failures > 0 ? failureWaitMs(this.#failures) : undefined;
  }

  notice(kind: string, text: string, node?: string): void {
    this.#listener?.notice(kind, text, node);
  }

  answered(): void {
    if (this.#failures >= REPORTED_FAILURES) this.notice("slurm-back", "Slurm answers again");
    this.#failures = 0;
  }

  failed(message: string): void {
    this.#failure = message;
    if (++this.#failures !== REPORTED_FAILURES) return;
    this.notice("slurm-away", `${message}; running gangs go on, and Tutti tries again every 15 s`);
  }

  /** An allocation has ended: the listener says so in its own words. */
  forget(): void {
    this.#told = undefined;
  }

  /** Why there are no nodes: trouble, or because no job waits. */
  tell(trouble: string | undefined, rests: string | undefined): void {
    if (this.#told !== undefined && this.#told.trouble === trouble && this.#told.rests === rests) return;
    this.#told = { trouble, rests };
    this.#listener?.rests(rests);
    this.#listener?.trouble(trouble);
  }
}
