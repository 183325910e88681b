/** Folders that are to be Tutti's alone: their modes are changed and files in them replaced, so nobody else's may lie there. */
import { type Dirent, readdirSync } from "node:fs";

/** Name of something in the folder that is not Tutti's, the first in order of names; undefined when there is nothing. */
export function foreignFile(folder: string, isOwn: (entry: Dirent) => boolean): string | undefined {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !isOwn(entry))
    .map(({ name }) => name)
    .sort()[0];
}
