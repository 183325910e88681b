/**
 * The colour of a gang: the same on every page, in every chart. Twelve hues that people with the common forms
 * of colour blindness tell apart by hue or lightness (after Okabe and Ito 2008, and Tol 2021 "muted"); labels
 * and hovering say the same without colour.
 */

/** Red, green, blue of each hue. Black text has a contrast of at least 4.5 on every one. */
const HUES: readonly (readonly [number, number, number])[] = [
  [0xe6, 0x9f, 0x00],
  [0x56, 0xb4, 0xe9],
  [0x2f, 0xbf, 0x95],
  [0xf0, 0xe4, 0x42],
  [0x7f, 0xa8, 0xe0],
  [0xf2, 0x84, 0x3c],
  [0xde, 0x8d, 0xb8],
  [0xb8, 0xc4, 0x4a],
  [0xc3, 0xa5, 0xe8],
  [0x88, 0xcc, 0xee],
  [0xcc, 0xa6, 0x77],
  [0x44, 0xaa, 0x99],
];

/** Number of colours; neighbours in number have different ones. */
const GANG_COLOURS = HUES.length;

/** Index of a job's colour. */
export function gangColour(job: number): number {
  return ((job % GANG_COLOURS) + GANG_COLOURS) % GANG_COLOURS;
}

/** Red, green and blue of a colour, each 0 to 255. */
export function gangRgb(colour: number): readonly [number, number, number] {
  return HUES[colour];
}

/** As CSS writes it. */
export function gangCss(job: number): string {
  return `rgb(${HUES[gangColour(job)].join(" ")})`;
}
