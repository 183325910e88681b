/** Compares the index of names with a list that is searched from its beginning. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { SameNames } from "./same-names.ts";

test("before() and takeReleased() agree with a list of all jobs, whatever enters and leaves", () => {
  const step = fc.record({ uid: fc.constantFrom(1, 2), name: fc.constantFrom("a", "b"), leaves: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const names = new SameNames();
      let live: { job: number; uid: number; name: string }[] = [];
      const sameAs = (one: { uid: number; name: string }) =>
        live.filter(({ uid, name }) => uid === one.uid && name === one.name).map(({ job }) => job);
      for (const [i, { uid, name, leaves }] of steps.entries()) {
        const job = { job: i + 1, uid, name };
        live.push(job);
        names.enter(job);
        const gone = live[leaves];
        if (gone !== undefined) {
          const [first] = sameAs(gone);
          live = live.filter((one) => one !== gone);
          names.leave(gone);
          const next = sameAs(gone)[0];
          // Only if the first of its name leaves, another one takes its place.
          expect(names.takeReleased()).toEqual(first === gone.job && next !== undefined ? [next] : []);
        }
        for (const one of live) {
          const before = sameAs(one).filter((number) => number < one.job);
          expect(names.after(one)).toBe(sameAs(one).find((number) => number > one.job));
          expect(names.before(one, 3)).toEqual(before.slice(0, 3));
        }
      }
    }),
  );
});
