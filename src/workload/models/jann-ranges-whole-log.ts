/**
 * The ranges of jann-ranges.ts fitted to the whole log instead: CTC-SP2-1996-3.1-cln, 26 June 1996 to 31 May 1997, 77,222 jobs. Steadier for the
 * rare large sizes, and not the data of the paper.
 */
import type { SizeRange } from "./jann-ranges.ts";

/** The ranges by powers of two, smallest first. */
export const JANN_WHOLE_LOG_RANGES: readonly SizeRange[] = [
  {
    minSize: 1,
    maxSize: 1,
    // biome-ignore format: pairs read better in a block
    sizes: [[1, 32413]],
    interarrivalS: { p: 0.0680646, rate1: 0.0001289533, rate2: 0.002546266, stages: 1 },
    serviceS: { p: 0.4627675, rate1: 0.0001193255, rate2: 0.01006747, stages: 4 },
  },
  {
    minSize: 2,
    maxSize: 2,
    // biome-ignore format: pairs read better in a block
    sizes: [[2, 5519]],
    interarrivalS: { p: 0.0735236, rate1: 2.277809e-5, rate2: 0.00046566, stages: 1 },
    serviceS: { p: 0.2165227, rate1: 0.0001902807, rate2: 0.08067522, stages: 9 },
  },
  {
    minSize: 3,
    maxSize: 4,
    // biome-ignore format: pairs read better in a block
    sizes: [[3, 989], [4, 8306]],
    interarrivalS: { p: 0.1247588, rate1: 5.739843e-5, rate2: 0.0009278894, stages: 1 },
    serviceS: { p: 0.2179045, rate1: 0.0001185492, rate2: 0.1227781, stages: 4 },
  },
  {
    minSize: 5,
    maxSize: 8,
    // biome-ignore format: pairs read better in a block
    sizes: [[5, 1891], [6, 767], [7, 217], [8, 5920]],
    interarrivalS: { p: 0.1799267, rate1: 6.515567e-5, rate2: 0.001556605, stages: 1 },
    serviceS: { p: 0.1819452, rate1: 8.261759e-5, rate2: 0.006590284, stages: 2 },
  },
  {
    minSize: 9,
    maxSize: 16,
    // biome-ignore format: pairs read better in a block
    sizes: [[9, 935], [10, 1915], [11, 387], [12, 741], [13, 114], [14, 174], [15, 136], [16, 5533]],
    interarrivalS: { p: 0.1928846, rate1: 9.083889e-5, rate2: 0.001017615, stages: 1 },
    serviceS: { p: 0.2607131, rate1: 0.000126622, rate2: 0.008817159, stages: 4 },
  },
  {
    minSize: 17,
    maxSize: 32,
    // biome-ignore format: pairs read better in a block
    sizes: [[17, 269], [18, 298], [19, 25], [20, 717], [21, 222], [22, 87], [23, 4], [24, 469], [25, 224], [26, 95], [27, 5], [28, 81], [29, 73], [30, 211], [31, 107], [32, 3534]],
    interarrivalS: { p: 0.1699224, rate1: 5.162561e-5, rate2: 0.0006673716, stages: 1 },
    serviceS: { p: 0.3190142, rate1: 0.0001069239, rate2: 0.005242096, stages: 3 },
  },
  {
    minSize: 33,
    maxSize: 64,
    // biome-ignore format: pairs read better in a block
    sizes: [[33, 457], [34, 185], [35, 14], [36, 124], [37, 84], [38, 74], [39, 1], [40, 135], [41, 25], [42, 18], [45, 6], [46, 4], [48, 69], [49, 50], [50, 77], [51, 92], [53, 1], [54, 5], [58, 1], [60, 24], [61, 54], [62, 3], [63, 5], [64, 1871]],
    interarrivalS: { p: 0.3497128, rate1: 4.738527e-5, rate2: 0.0005440764, stages: 1 },
    serviceS: { p: 0.3251145, rate1: 0.0001092549, rate2: 0.004852759, stages: 3 },
  },
  {
    minSize: 65,
    maxSize: 128,
    // biome-ignore format: pairs read better in a block
    sizes: [[65, 140], [66, 30], [67, 5], [68, 12], [69, 6], [70, 5], [71, 3], [72, 4], [76, 2], [78, 2], [80, 3], [81, 32], [82, 1], [90, 2], [91, 1], [92, 1], [93, 1], [94, 2], [95, 1], [96, 26], [97, 7], [98, 1], [99, 2], [100, 17], [101, 20], [102, 11], [114, 11], [120, 14], [123, 2], [126, 1], [127, 8], [128, 655]],
    interarrivalS: { p: 0.3396183, rate1: 1.678292e-5, rate2: 8.486937e-5, stages: 1 },
    serviceS: { p: 0.3615655, rate1: 0.00012622, rate2: 0.0110494, stages: 5 },
  },
  {
    minSize: 129,
    maxSize: 256,
    // biome-ignore format: pairs read better in a block
    sizes: [[129, 106], [130, 2], [132, 1], [140, 2], [150, 3], [151, 6], [160, 3], [161, 1], [162, 2], [175, 1], [180, 5], [184, 2], [192, 18], [194, 1], [200, 29], [203, 1], [216, 1], [231, 1], [250, 3], [254, 1], [255, 3], [256, 113]],
    interarrivalS: { p: 0.3317417, rate1: 3.863162e-6, rate2: 7.853466e-5, stages: 1 },
    serviceS: { p: 0.2158714, rate1: 7.375091e-5, rate2: 0.001054236, stages: 1 },
  },
  {
    minSize: 257,
    maxSize: 322,
    // biome-ignore format: pairs read better in a block
    sizes: [[257, 6], [258, 2], [264, 1], [265, 1], [269, 1], [282, 1], [288, 3], [290, 1], [292, 1], [296, 2], [300, 28], [306, 58], [308, 1], [316, 1], [320, 13], [322, 1]],
    interarrivalS: { p: 0.4143423, rate1: 2.243963e-6, rate2: 1.001047e-5, stages: 1 },
    serviceS: { p: 0.3910179, rate1: 0.0001081621, rate2: 0.3326132, stages: 4 },
  },
  {
    minSize: 323,
    maxSize: 338,
    // biome-ignore format: pairs read better in a block
    sizes: [[330, 4], [336, 7]],
    interarrivalS: { p: 0.4139958, rate1: 8.989061e-7, rate2: 0.0001752896, stages: 3 },
    serviceS: { p: 0.7296687, rate1: 0.0009175141, rate2: 0.009779708, stages: 1 },
  },
];
