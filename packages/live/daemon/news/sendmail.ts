/** Finds the program with which this machine sends mail. */
import { statSync } from "@tutti/host/ports/fs.ts";
import { join } from "@tutti/host/ports/path.ts";
import { replaceablePart } from "@tutti/host/trusted-path.ts";

/** Where mail programs put it, in case that the search path leaves them out. */
const USUAL_FOLDERS = ["/usr/sbin", "/usr/lib", "/usr/local/sbin", "/usr/local/bin"];
const EXECUTABLE = 0o111;

/**
 * The full path of `sendmail`. Every user's mail goes through it, so a program that others than this user and
 * root could replace does not count.
 * @param usual folders that are tried after those of the search path
 */
export function findSendmail(usual = USUAL_FOLDERS): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(":"), ...usual];
  return folders
    .filter((folder) => folder.startsWith("/"))
    .map((folder) => join(folder, "sendmail"))
    .find(isTrusted);
}

function isTrusted(path: string): boolean {
  try {
    const stats = statSync(path);
    const isProgram = stats.isFile() && (stats.mode & EXECUTABLE) !== 0;
    return isProgram && replaceablePart(path, process.getuid!()) === undefined;
  } catch {
    // It does not exist, or we may not search a folder on the way: a search path may come from another user.
    return false;
  }
}
