/** How far a computation is, and how long it will take. */

import { formatDuration } from "@tutti/kernel/core/format.ts";
import { useEffect, useState } from "preact/hooks";

interface ProgressProps {
  /** Of the work that is done. */
  readonly share: number;
  readonly done: number;
  readonly of: number;
  readonly fromMs: number;
}

export function Progress({ share, done, of, fromMs }: ProgressProps) {
  const [nowMs, setNowMs] = useState(performance.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const elapsedS = Math.max(0, nowMs - fromMs) / 1000;
  const leftS = share > 0.02 && elapsedS > 1 ? (elapsedS * (1 - share)) / share : Number.NaN;
  return (
    <>
      <progress value={share} aria-label="share of the runs that is done" />
      <span>
        {done} of {of} runs
        {Number.isNaN(leftS) ? "" : `, about ${formatDuration(Math.ceil(leftS))} left`}
      </span>
    </>
  );
}
