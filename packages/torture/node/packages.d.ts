/** Types of packages that have none: those of Node's modules that they stand for. */
declare module "events/events.js" {
  import EventEmitter from "node:events";
  export default EventEmitter;
}
declare module "path-browserify" {
  import type { PlatformPath } from "node:path";

  const posix: PlatformPath;
  export default posix;
}
/** The content of a file, which a bundler takes. */
declare module "*.wasm" {
  const bytes: Uint8Array;
  export default bytes;
}
