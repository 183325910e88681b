/** Reads the reason of a job whose command could not begin: it names task and node if others could. */

const CANNOT = /^lost: ((?:Task \d+: )?(?:On \S+: )?Cannot .*)$/s;

/** Why the command of a job that has ended could not begin, such as a missing program; undefined: it did. */
export function whyNeverBegan(reason = ""): string | undefined {
  return CANNOT.exec(reason)?.[1];
}
