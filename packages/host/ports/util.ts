export { isDeepStrictEqual, parseArgs } from "node:util";
