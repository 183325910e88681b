export type { FileHandle } from "node:fs/promises";
export { access, chmod, open, opendir, rename, rmdir, stat, unlink, writeFile } from "node:fs/promises";
