/**
 * Holds tables 2, 3 and 4 as printed, to check the configuration against; null: the paper prints no value.
 */
export const PRINTED_CLASSES: readonly (readonly [
  string,
  number,
  number,
  number,
  number | null,
  number | null,
])[] = [
  ["ss8", 8, 8, 8, null, null],
  ["s8", 8, 8, 8, null, null],
  ["s128", 128, 8, 128, 30, 1],
  ["d32", 32, 32, 32, 20, 3],
  ["d128", 128, 128, 32, 20, 2],
  ["d512", 512, 512, 32, 20, 1],
];
