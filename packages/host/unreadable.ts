const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "you are not allowed to read it",
  EISDIR: "it is a folder",
};

/** Why a file could not be read, to follow its name. */
export function whyUnreadable(error: unknown): string {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return REASONS[code] ?? message;
}
