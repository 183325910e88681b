/** Names of the simulated nodes: addresses of this machine, so that conductors find each other. */

export const BENCH_KEY = "5a".repeat(32);

/** @param number from 1 on */
export function nodeName(number: number): string {
  return `127.1.${number >> 8}.${number & 255}`;
}
