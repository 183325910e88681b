/** Defines what a handler of the API receives, and what it may return. */
import type { Caller, Service } from "../../daemon/contract/service.ts";
import type { EventStreams } from "./answers/events.ts";
import type { RequestCount } from "./answers/metrics-text.ts";
import type { FairLine, RequestTurns } from "./fairness/request-scheduler.ts";
import type { Credentials, Transport } from "./guard.ts";
import type { ApiRefusal } from "./refusal.ts";
import type { FolderChecks } from "./requests/folder-checks.ts";
import type { Links } from "./web/links.ts";
import type { WebFiles } from "./web/web-files.ts";

/** Everything that handlers need: the service and what the API adds to it. */
export interface HandlerDeps {
  readonly service: Service;
  readonly version: string;
  /** Has one folder per job, named by its number. Only files in a job's folder are served as its logs. */
  readonly jobsFolder: string;
  /** Address of the HTTP listener; undefined if there is none. */
  readonly http: () => string | undefined;
  readonly requests: () => readonly RequestCount[];
  /** Runs forecasts one at a time, with users in turn. */
  readonly forecasts: FairLine;
  readonly eventStreams: EventStreams;
  readonly folders: FolderChecks;
  readonly credentials: Credentials;
  readonly web: Web;
}

/** What the API needs to serve the page. */
export interface Web {
  readonly files: WebFiles;
  readonly links: Links;
  /** Whether jobs may be submitted from the page: the setting `web.submit`. */
  readonly maySubmit: boolean;
}

/** An authenticated request whose parts have been checked. */
export interface Call {
  readonly caller: Caller;
  readonly request: Request;
  readonly transport: Transport;
  readonly job: number;
  readonly stream: "stdout" | "stderr";
  readonly file: string;
  /** Name of a window; not checked. */
  readonly window: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body: unknown;
  /** Runs work that may take more than about 10 ms in pieces; see pieces.ts for long answers. */
  readonly turns: RequestTurns;
}

/** A refusal, a finished response, or the content of a JSON answer without its schema's name. */
export type Outcome = ApiRefusal | Response | object;
