export type { Server, Socket } from "node:net";
export { createConnection, createServer } from "node:net";
