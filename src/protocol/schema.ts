/**
 * What the API takes and gives, as schemas: the server checks requests with them, OpenAPI is generated from them, and command line,
 * scheduler and web page take their types from here. Only zod is imported from outside, so that a browser can load this file too.
 *
 * Within one version of an answer's schema (`tutti.jobs/1`) keys are only added. A request with an unknown key is refused, an
 * unknown key in an answer is to be ignored. Times are integers in ms: Unix time where the name ends in `AtMs`.
 */
export * from "./answers.ts";
export { jobState } from "./atoms.ts";
export * from "./requests.ts";
