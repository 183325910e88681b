/** Runs something under another file mode creation mask; nothing else runs meanwhile, since it does not wait. */
export function withUmask<Result>(mask: number, run: () => Result): Result {
  const before = process.umask(mask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}

/** Runs something that makes files nobody else may read. */
export function privately<Result>(run: () => Result): Result {
  return withUmask(0o077, run);
}
