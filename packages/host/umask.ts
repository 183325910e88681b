/**
 * Runs synchronous code under another umask. The code is synchronous, so no other code runs under that umask.
 */
export function withUmask<Result>(mask: number, run: () => Result): Result {
  const before = process.umask(mask);
  try {
    return run();
  } finally {
    process.umask(before);
  }
}

/** Runs code whose new files nobody else may access. */
export function withPrivateUmask<Result>(run: () => Result): Result {
  return withUmask(0o077, run);
}
