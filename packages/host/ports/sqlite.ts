export type { StatementSync } from "node:sqlite";
export { backup, DatabaseSync } from "node:sqlite";
