/** How Zhou, Brent, Johnson and Walsh 1999 was read where it leaves things open, and what was not reproduced. */
export const NOTES: readonly string[] = [
  "The paper prints no measured table. Its examples are made by the same operations; what it argues is decided by simulations on the workload of the authors' next paper (zhou2000): 128 processors, run times and sizes uniform in log space. A statement holds when the 95 % interval of the paired difference over 10 sets of jobs is on its side at every load from 0.5 on.",
  "Figures 3, 4 and 5 are lost and were rebuilt so that every sentence about them is true.",
  "Sizes that are powers of two are the drawn ones rounded to the nearest in ratio; arrivals are stretched so that the load stays. They are there because the paper takes its word on buddy systems from Feitelson 1996, whose jobs mostly have such sizes. With any sizes, whole blocks raise the load by a third, and buddy row by row comes last.",
  "Slots: one per job; kept, one extra slot per workload change, to the largest job that can have one, to its end (as BRMS of zhou2000); returned, all that can be used, given back when they are in the way (as BRMMS). The paper leaves open which jobs are given slots, and when.",
  "A unification is counted when a job is given one more slot; a move when a job changes its row in an exchange.",
  "On a linear array WLV has, after every decision, exactly as many rows as its fullest processor has jobs: no re-packing without migration could do with fewer.",
  "On a ring two fragments can be joined only between two legal cuts. A row can be deleted whenever every processor has an idle slot and one cut is legal in all rows; without such a cut it may be impossible (three jobs of two processors on three). With the search made here the ring, though it has more windows to choose from, needs more rows than the array.",
  "Figure 6, the tree over the workload vector, is the subject of zhou2000 and reproduced there.",
];
