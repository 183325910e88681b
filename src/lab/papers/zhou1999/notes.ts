/**
 * How Zhou, Brent, Johnson and Walsh 1999 was read where it leaves things open, and what was not reproduced.
 */
export const NOTES: readonly string[] = [
  "The paper prints no measured table. We make its examples with the same operations, and decide what it argues by simulations on the workload of the authors' next paper (zhou2000): 128 processors, run times and sizes uniform in log space. A statement holds if the 95 % interval of the paired difference over 10 sets of jobs lies on its side at every load of 0.5 or more.",
  "Figures 3 to 6 are lost. We rebuilt them so that every sentence about them is true. In the text about figure 6, a job of four processors gets P4 to P8, which is five; we read P5 to P8.",
  "To get sizes that are powers of two, each drawn size is rounded to the nearest power in ratio, and arrivals are stretched so that the load stays the same. These sizes are included because the paper relies for buddy systems on Feitelson 1996, whose jobs mostly have such sizes.",
  "Slots. One: each job has one slot. Kept: each workload change gives one extra slot to the largest job that can use it, and the job keeps the slot until it ends (as BRMS of zhou2000). Returned: all extra slots that fit are given out, and taken back when they are in the way (as BRMMS). The paper does not say which jobs get slots, or when.",
  "A unification is counted when a job gets one more slot, and a move when a job changes its row in an exchange.",
  "On a linear array, WLV has after every decision exactly as many rows as its fullest processor has jobs. Re-packing without migration cannot do with fewer.",
  "On a ring, two fragments can be joined only between two legal cuts. A row can be deleted if every processor has an idle slot and one cut is legal in all rows. Without such a cut it may be impossible (for example with three jobs of two processors on three processors). The ring has more windows to choose from, but with our search it needs more rows than the array.",
  "Buddy. A job occupies its own processors, and other jobs may use what it leaves of its block (zhou2000, section 1). Buddy, exclusive, is the conventional buddy system: nobody uses the rest. With arbitrary sizes that raises the load by a third. Both are compared.",
];
