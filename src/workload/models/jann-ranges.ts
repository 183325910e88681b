/**
 * The workload model of Jann et al. 1997 by ranges of size: interarrival and service times are hyper-Erlang, each range by itself.
 *
 * The published parameters are not available. These are a fit of the same form, by the same three moments, to the same
 * data, made anew: jobs submitted to the CTC SP2 from 25 June to before 12 September 1996 (CTC-SP2-1996-3.1-cln, 17,542
 * jobs; the paper has 17,440). Every row reproduces its three sample moments within 2e−5. Within a range, sizes are drawn as
 * often as the log has them. The fit knows no daily cycle, and third moments of interarrival times hang on a few long gaps.
 */
import type { HyperErlang } from "./hyper-erlang.ts";

export interface SizeRange {
  readonly minSize: number;
  readonly maxSize: number;
  /** Jobs of each size in the log's window. */
  readonly sizes: readonly (readonly [size: number, jobs: number])[];
  readonly interarrivalS: HyperErlang;
  readonly serviceS: HyperErlang;
}

/** The ranges by powers of two, smallest first. */
export const JANN_RANGES: readonly SizeRange[] = [
  {
    minSize: 1,
    maxSize: 1,
    // biome-ignore format: pairs read better in a block
    sizes: [[1, 7292]],
    interarrivalS: { p: 0.0693601, rate1: 0.0001478599, rate2: 0.00231665, stages: 1 },
    serviceS: { p: 0.3903444, rate1: 0.0001187665, rate2: 0.006851199, stages: 4 },
  },
  {
    minSize: 2,
    maxSize: 2,
    // biome-ignore format: pairs read better in a block
    sizes: [[2, 1711]],
    interarrivalS: { p: 0.0954166, rate1: 3.609256e-5, rate2: 0.0008909874, stages: 1 },
    serviceS: { p: 0.3104754, rate1: 0.0001757677, rate2: 0.03966239, stages: 8 },
  },
  {
    minSize: 3,
    maxSize: 4,
    // biome-ignore format: pairs read better in a block
    sizes: [[3, 370], [4, 1946]],
    interarrivalS: { p: 0.1298692, rate1: 6.208162e-5, rate2: 0.001342427, stages: 1 },
    serviceS: { p: 0.2088584, rate1: 0.0001424852, rate2: 0.03461136, stages: 5 },
  },
  {
    minSize: 5,
    maxSize: 8,
    // biome-ignore format: pairs read better in a block
    sizes: [[5, 453], [6, 228], [7, 20], [8, 1094]],
    interarrivalS: { p: 0.2180859, rate1: 7.159664e-5, rate2: 0.001663684, stages: 1 },
    serviceS: { p: 0.2236081, rate1: 9.538579e-5, rate2: 0.003053739, stages: 2 },
  },
  {
    minSize: 9,
    maxSize: 16,
    // biome-ignore format: pairs read better in a block
    sizes: [[9, 134], [10, 395], [11, 37], [12, 186], [14, 10], [15, 62], [16, 1409]],
    interarrivalS: { p: 0.1065547, rate1: 6.691484e-5, rate2: 0.0007111554, stages: 1 },
    serviceS: { p: 0.3184336, rate1: 0.000112568, rate2: 0.02741742, stages: 3 },
  },
  {
    minSize: 17,
    maxSize: 32,
    // biome-ignore format: pairs read better in a block
    sizes: [[17, 61], [18, 103], [19, 3], [20, 112], [21, 32], [22, 1], [24, 66], [25, 37], [26, 48], [27, 3], [30, 6], [31, 1], [32, 617]],
    interarrivalS: { p: 0.1237425, rate1: 3.3658e-5, rate2: 0.0003807013, stages: 1 },
    serviceS: { p: 0.3188159, rate1: 0.0001049406, rate2: 0.02101815, stages: 3 },
  },
  {
    minSize: 33,
    maxSize: 64,
    // biome-ignore format: pairs read better in a block
    sizes: [[33, 145], [34, 54], [36, 5], [37, 14], [40, 14], [41, 18], [42, 1], [48, 19], [49, 1], [50, 23], [51, 2], [54, 3], [60, 5], [64, 458]],
    interarrivalS: { p: 0.4438734, rate1: 5.536425e-5, rate2: 0.00160879, stages: 1 },
    serviceS: { p: 0.4176867, rate1: 0.0001008524, rate2: 0.009813221, stages: 3 },
  },
  {
    minSize: 65,
    maxSize: 128,
    // biome-ignore format: pairs read better in a block
    sizes: [[65, 15], [66, 4], [67, 3], [69, 1], [70, 2], [71, 3], [78, 2], [81, 3], [94, 1], [96, 13], [97, 2], [100, 4], [101, 2], [114, 6], [120, 5], [127, 6], [128, 125]],
    interarrivalS: { p: 0.5040612, rate1: 3.332502e-5, rate2: 0.0005117312, stages: 2 },
    serviceS: { p: 0.3189468, rate1: 0.0001218356, rate2: 0.1424349, stages: 5 },
  },
  {
    minSize: 129,
    maxSize: 256,
    // biome-ignore format: pairs read better in a block
    sizes: [[129, 52], [130, 2], [150, 3], [161, 1], [175, 1], [180, 1], [184, 2], [192, 6], [200, 9], [250, 1], [256, 20]],
    interarrivalS: { p: 0.1703257, rate1: 5.77921e-6, rate2: 0.0003039401, stages: 2 },
    serviceS: { p: 0.352922, rate1: 0.0002929244, rate2: 0.008297643, stages: 1 },
  },
  {
    minSize: 257,
    maxSize: 322,
    // biome-ignore format: pairs read better in a block
    sizes: [[257, 1], [258, 1], [264, 1], [290, 1], [300, 8], [306, 25], [308, 1], [320, 9], [322, 1]],
    interarrivalS: { p: 0.1534905, rate1: 1.668035e-6, rate2: 1.816019e-5, stages: 1 },
    serviceS: { p: 0.2147009, rate1: 0.0001438912, rate2: 0.03277589, stages: 6 },
  },
];
