/** Resolves after a time, or immediately when the signal aborts. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, durationMs);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}
