/** What a handler is given, and what it may answer. */
import type { Caller, Service } from "../../daemon/contract/service.ts";
import type { RequestCount } from "./answers/metrics-text.ts";
import type { FairLine } from "./fairness/fair-line.ts";
import type { RequestTurns } from "./fairness/request-scheduler.ts";
import type { ApiRefusal } from "./refusal.ts";

/** What the API needs of the front end beside the service. */
export interface HandlerDeps {
  readonly service: Service;
  readonly version: string;
  /** Folder of the jobs' folders, each named by its job; only files in a job's own are given out as its logs. */
  readonly jobsFolder: string;
  /** Address of the HTTP listener, if there is one. */
  readonly http: () => string | undefined;
  readonly requests: () => readonly RequestCount[];
  /** Where forecasts wait for one another, each user's in turn. */
  readonly forecasts: FairLine;
}

/** A request that has passed the door, with its parts checked. */
export interface Call {
  readonly caller: Caller;
  readonly request: Request;
  readonly job: number;
  readonly stream: "stdout" | "stderr";
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  /** Work that may take more than some 10 ms goes through here in pieces; see pieces.ts for long answers. */
  readonly turns: RequestTurns;
}

/** A refusal, a finished response, or the content of a JSON answer without its schema's name. */
export type Outcome = ApiRefusal | Response | object;
