/** What is printed in Dimitriadou and Karatza 2009. */

/** Table II as printed; rows by λ, columns by approach. */
export const TABLE_TWO: readonly (readonly [number, number])[] = [
  [0.87999, 0.88034],
  [0.73785, 0.73791],
  [0.63484, 0.6349],
];
/** The loads: local jobs at each site per mean service time. */
export const LAMBDAS = ["12.5", "10", "8.3"] as const;
