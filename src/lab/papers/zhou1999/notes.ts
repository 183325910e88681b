/**
 * How Zhou, Brent, Johnson and Walsh 1999 was read where it leaves things open, and what was not reproduced.
 */
export const NOTES: readonly string[] = [
  "The paper prints no measured table. We make its examples with the same operations, and decide what it argues by simulations on the workload of the authors' next paper (zhou2000): 128 processors, run times and sizes uniform in log space. A statement holds if the 95 % interval of the paired difference over 10 sets of jobs lies on its side at every load of 0.5 or more.",
  "Figures 3, 4 and 5 are lost. We rebuilt them so that every sentence about them is true.",
  "To get sizes that are powers of two, each drawn size is rounded to the nearest power in ratio, and arrivals are stretched so that the load stays the same. These sizes are included because the paper relies for buddy systems on Feitelson 1996, whose jobs mostly have such sizes. With arbitrary sizes, whole blocks raise the load by a third, and buddy row by row comes last.",
  "Slots. One: each job has one slot. Kept: each workload change gives one extra slot to the largest job that can use it, and the job keeps the slot until it ends (as BRMS of zhou2000). Returned: all extra slots that fit are given out, and taken back when they are in the way (as BRMMS). The paper does not say which jobs get slots, or when.",
  "A unification is counted when a job gets one more slot, and a move when a job changes its row in an exchange.",
  "On a linear array, WLV has after every decision exactly as many rows as its fullest processor has jobs. Re-packing without migration cannot do with fewer.",
  "On a ring, two fragments can be joined only between two legal cuts. A row can be deleted if every processor has an idle slot and one cut is legal in all rows. Without such a cut it may be impossible (for example with three jobs of two processors on three processors). The ring has more windows to choose from, but with our search it needs more rows than the array.",
  "Figure 6, the tree over the workload vector, is the subject of zhou2000 and is reproduced there.",
];
