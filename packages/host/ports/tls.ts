export type { Server, TLSSocket } from "node:tls";
export { connect, createServer } from "node:tls";
