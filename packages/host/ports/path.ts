export { basename, delimiter, dirname, isAbsolute, join, parse, resolve } from "node:path";
