/**
 * Collects the schemas of the API's requests and answers. The server checks requests with them, the OpenAPI
 * document is generated from them, and command line, scheduler and web page take their types from here. zod
 * is the only dependency, so a browser can load this file too.
 *
 * Within one version of an answer's schema (`tutti.jobs/1`), keys are only added. The server refuses requests
 * with unknown keys; clients must ignore unknown keys in answers. Times are in ms; a name that ends in `AtMs`
 * means Unix time.
 */
export * from "./answers.ts";
export { jobState } from "./atoms.ts";
export * from "./forecasts.ts";
export * from "./input/input-answer.ts";
export * from "./job-answers.ts";
export * from "./requests.ts";
