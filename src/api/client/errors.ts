/** What can go wrong between a client and the scheduler. */
import type { RefusalAnswer } from "../../protocol/schema.ts";

/** There is no scheduler to talk to. Three lines: what, why, what to type next. */
export class NoDaemonError extends Error {
  override name = "NoDaemonError";
}

/** The scheduler has refused. */
export class RefusedError extends Error {
  override name = "RefusedError";
  readonly refused: RefusalAnswer["refused"];

  constructor(refused: RefusalAnswer["refused"], message: string) {
    super(message);
    this.refused = refused;
  }
}
