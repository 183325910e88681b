/** Holds the numbers that Dimitriadou and Karatza 2009 prints. */

/** Table II as printed; rows by λ, columns by approach. */
export const TABLE_TWO: readonly (readonly [number, number])[] = [
  [0.87999, 0.88034],
  [0.73785, 0.73791],
  [0.63484, 0.6349],
];
