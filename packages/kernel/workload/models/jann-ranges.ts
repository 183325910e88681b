/**
 * Lists the ranges of size of the workload model of Jann et al. 1997. Each range has its own hyper-Erlang
 * interarrival and service times.
 *
 * The published parameters are not available. These are fits of the same form, by the same three moments, to
 * the log of the same machine (CTC-SP2-1996-3.1-cln). Every row reproduces its three sample moments within
 * 1e−4. Within a range, each size is drawn as often as it occurs in the log. The fits have no daily cycle,
 * and the third moments of interarrival times depend on a few long gaps.
 */
import type { Random } from "../../core/random.ts";
import type { HyperErlang } from "./hyper-erlang.ts";

export interface SizeRange {
  readonly minSize: number;
  readonly maxSize: number;
  /** Jobs in the log, in all and of each size. */
  readonly jobs: number;
  readonly sizes: readonly (readonly [size: number, jobs: number])[];
  readonly interarrivalS: HyperErlang;
  readonly serviceS: HyperErlang;
}

type Fit = readonly [p: number, rate1: number, rate2: number, stages: number];
type Row = readonly [maxSize: number, interarrivalS: Fit, serviceS: Fit, sizes: SizeRange["sizes"]];

/**
 * The paper's data: jobs submitted from 25 June to before 12 September 1996, 17,542 jobs; the paper has
 * 17,440.
 */
// biome-ignore format: a table
export const JANN_RANGES: readonly SizeRange[] = rangesOf([
  [1, [0.0693601, 0.0001478599, 0.00231665, 1], [0.3903444, 0.0001187665, 0.006851199, 4],
    [[1, 7292]]],
  [2, [0.0954166, 3.609256e-5, 0.0008909874, 1], [0.3104754, 0.0001757677, 0.03966239, 8],
    [[2, 1711]]],
  [4, [0.1298692, 6.208162e-5, 0.001342427, 1], [0.2088584, 0.0001424852, 0.03461136, 5],
    [[3, 370], [4, 1946]]],
  [8, [0.2180859, 7.159664e-5, 0.001663684, 1], [0.2236081, 9.538579e-5, 0.003053739, 2],
    [[5, 453], [6, 228], [7, 20], [8, 1094]]],
  [16, [0.1065547, 6.691484e-5, 0.0007111554, 1], [0.3184336, 0.000112568, 0.02741742, 3],
    [[9, 134], [10, 395], [11, 37], [12, 186], [14, 10], [15, 62], [16, 1409]]],
  [32, [0.1237425, 3.3658e-5, 0.0003807013, 1], [0.3188159, 0.0001049406, 0.02101815, 3],
    [[17, 61], [18, 103], [19, 3], [20, 112], [21, 32], [22, 1], [24, 66], [25, 37], [26, 48], [27, 3], [30, 6], [31, 1], [32, 617]]],
  [64, [0.4438734, 5.536425e-5, 0.00160879, 1], [0.4176867, 0.0001008524, 0.009813221, 3],
    [[33, 145], [34, 54], [36, 5], [37, 14], [40, 14], [41, 18], [42, 1], [48, 19], [49, 1], [50, 23], [51, 2], [54, 3], [60, 5], [64, 458]]],
  [128, [0.5040612, 3.332502e-5, 0.0005117312, 2], [0.3189468, 0.0001218356, 0.1424349, 5],
    [[65, 15], [66, 4], [67, 3], [69, 1], [70, 2], [71, 3], [78, 2], [81, 3], [94, 1], [96, 13], [97, 2], [100, 4], [101, 2], [114, 6], [120, 5], [127, 6], [128, 125]]],
  [256, [0.1703257, 5.77921e-6, 0.0003039401, 2], [0.352922, 0.0002929244, 0.008297643, 1],
    [[129, 52], [130, 2], [150, 3], [161, 1], [175, 1], [180, 1], [184, 2], [192, 6], [200, 9], [250, 1], [256, 20]]],
  [322, [0.1534905, 1.668035e-6, 1.816019e-5, 1], [0.2147009, 0.0001438912, 0.03277589, 6],
    [[257, 1], [258, 1], [264, 1], [290, 1], [300, 8], [306, 25], [308, 1], [320, 9], [322, 1]]],
]);

/**
 * The whole log, 26 June 1996 to 31 May 1997, 77,222 jobs. Its rare large sizes are more reliable, but it is
 * not the data of the paper.
 */
// biome-ignore format: a table
export const JANN_WHOLE_LOG_RANGES: readonly SizeRange[] = rangesOf([
  [1, [0.0680646, 0.0001289533, 0.002546266, 1], [0.4627675, 0.0001193255, 0.01006747, 4],
    [[1, 32413]]],
  [2, [0.0735236, 2.277809e-5, 0.00046566, 1], [0.2165227, 0.0001902807, 0.08067522, 9],
    [[2, 5519]]],
  [4, [0.1247588, 5.739843e-5, 0.0009278894, 1], [0.2179045, 0.0001185492, 0.1227781, 4],
    [[3, 989], [4, 8306]]],
  [8, [0.1799267, 6.515567e-5, 0.001556605, 1], [0.1819452, 8.261759e-5, 0.006590284, 2],
    [[5, 1891], [6, 767], [7, 217], [8, 5920]]],
  [16, [0.1928846, 9.083889e-5, 0.001017615, 1], [0.2607131, 0.000126622, 0.008817159, 4],
    [[9, 935], [10, 1915], [11, 387], [12, 741], [13, 114], [14, 174], [15, 136], [16, 5533]]],
  [32, [0.1699224, 5.162561e-5, 0.0006673716, 1], [0.3190142, 0.0001069239, 0.005242096, 3],
    [[17, 269], [18, 298], [19, 25], [20, 717], [21, 222], [22, 87], [23, 4], [24, 469], [25, 224], [26, 95], [27, 5], [28, 81], [29, 73], [30, 211], [31, 107], [32, 3534]]],
  [64, [0.3497128, 4.738527e-5, 0.0005440764, 1], [0.3251145, 0.0001092549, 0.004852759, 3],
    [[33, 457], [34, 185], [35, 14], [36, 124], [37, 84], [38, 74], [39, 1], [40, 135], [41, 25], [42, 18], [45, 6], [46, 4], [48, 69], [49, 50], [50, 77], [51, 92], [53, 1], [54, 5], [58, 1], [60, 24], [61, 54], [62, 3], [63, 5], [64, 1871]]],
  [128, [0.3396183, 1.678292e-5, 8.486937e-5, 1], [0.3615655, 0.00012622, 0.0110494, 5],
    [[65, 140], [66, 30], [67, 5], [68, 12], [69, 6], [70, 5], [71, 3], [72, 4], [76, 2], [78, 2], [80, 3], [81, 32], [82, 1], [90, 2], [91, 1], [92, 1], [93, 1], [94, 2], [95, 1], [96, 26], [97, 7], [98, 1], [99, 2], [100, 17], [101, 20], [102, 11], [114, 11], [120, 14], [123, 2], [126, 1], [127, 8], [128, 655]]],
  [256, [0.3317417, 3.863162e-6, 7.853466e-5, 1], [0.2158714, 7.375091e-5, 0.001054236, 1],
    [[129, 106], [130, 2], [132, 1], [140, 2], [150, 3], [151, 6], [160, 3], [161, 1], [162, 2], [175, 1], [180, 5], [184, 2], [192, 18], [194, 1], [200, 29], [203, 1], [216, 1], [231, 1], [250, 3], [254, 1], [255, 3], [256, 113]]],
  [322, [0.4143423, 2.243963e-6, 1.001047e-5, 1], [0.3910179, 0.0001081621, 0.3326132, 4],
    [[257, 6], [258, 2], [264, 1], [265, 1], [269, 1], [282, 1], [288, 3], [290, 1], [292, 1], [296, 2], [300, 28], [306, 58], [308, 1], [316, 1], [320, 13], [322, 1]]],
  [338, [0.4139958, 8.989061e-7, 0.0001752896, 3], [0.7296687, 0.0009175141, 0.009779708, 1],
    [[330, 4], [336, 7]]],
]);

/** Draws a size of the range, as often as the log has it. */
export function drawSize({ jobs, sizes, maxSize }: SizeRange, random: Random): number {
  let rest = random.below(jobs);
  for (const [size, ofSize] of sizes) {
    if (rest < ofSize) return size;
    rest -= ofSize;
  }
  return maxSize; // not reached: rest is below the sum of the jobs
}

/** Ranges from 1 on without gaps, the smallest first. */
function rangesOf(rows: readonly Row[]): SizeRange[] {
  return rows.map(([maxSize, interarrivalS, serviceS, sizes], i) => ({
    minSize: i === 0 ? 1 : rows[i - 1][0] + 1,
    maxSize,
    jobs: sizes.reduce((sum, [, ofSize]) => sum + ofSize, 0),
    sizes,
    interarrivalS: distribution(interarrivalS),
    serviceS: distribution(serviceS),
  }));
}

function distribution([p, rate1, rate2, stages]: Fit): HyperErlang {
  return { p, rate1, rate2, stages };
}
