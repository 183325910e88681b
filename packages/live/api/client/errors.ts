/** Defines the errors that requests to the scheduler can throw. */
import type { RefusalAnswer } from "@tutti/protocol/schema.ts";

/** No scheduler can be reached. The message says what failed, why, and what to do. */
export class NoDaemonError extends Error {
  override name = "NoDaemonError";

  /** Why, as a code of the system, such as ECONNREFUSED; ENOENT if there is no socket. */
  get code(): string | undefined {
    return (this.cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

/** The scheduler refused the request. */
export class RefusedError extends Error {
  override name = "RefusedError";
  readonly refused: RefusalAnswer["refused"];

  constructor(refused: RefusalAnswer["refused"], message: string) {
    super(message);
    this.refused = refused;
  }
}
