export { createHash, randomBytes, randomUUID } from "node:crypto";
