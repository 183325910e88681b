export { EventEmitter, once } from "node:events";
