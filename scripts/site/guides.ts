/** The documents of `docs/` by purpose, for the site, the Debian package and the check of their lengths. */

/** One for each kind of reader; each has a row in the README. */
export const GUIDES = [
  "guide-user.md",
  "guide-administrator.md",
  "guide-slurm.md",
  "guide-laboratory.md",
  "python.md",
] as const;

/** What the guides leave out. */
export const REFERENCES = [
  "reference-jobs.md",
  "reference-administration.md",
  "slurm-names.md",
  "reference-laboratory.md",
  "reference-python.md",
  "environments.md",
] as const;
