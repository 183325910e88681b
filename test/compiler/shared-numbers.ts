/**
 * A small program that V8 compiles wrongly, for V8's tracker and for the proof that Tutti's flag prevents it
 * (docs/decisions.md, Numbers). It needs no flags: `node test/compiler/shared-numbers.ts` prints how many of
 * its objects lost their number. Expected are two times 0; Node 24.21 and 26.10 print up to 4 and 4.
 *
 * Maglev does not create an object that its code never lets out. If that code is left (a "deoptimisation")
 * at a place that needs the object, the object is created from a list that belongs to the code, and a
 * fractional number in it is created only once, with the list. So all objects that the same code creates at
 * the same place share one number. That takes code which is left there twice: code for a running loop, which
 * V8 keeps when it is left behind the loop, or a recursive function, several calls of which are under way.
 */

/** How many objects lost their number, of 5 behind a loop and 6 in a recursion. Uses nothing outside it. */
export function lostNumbers(): { readonly loop: number; readonly recursion: number } {
  interface Holder {
    waitS: number;
  }
  function add(count: number, kept?: Holder[]): number {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += i / 3;
    const holder = { waitS: 0.5 };
    // Never before the code is compiled, so the compiled code is left here.
    if (kept !== undefined) kept.push(holder);
    return sum;
  }
  function descend(depth: number, kept?: Holder[]): number {
    const holder = { waitS: 0.5 };
    if (depth > 0) descend(depth - 1, kept);
    if (kept !== undefined) kept.push(holder);
    return depth;
  }
  /** Code is compiled in another thread. */
  function waitForCompiler(): void {
    const untilMs = performance.now() + 30;
    while (performance.now() < untilMs);
  }

  const behindLoop: Holder[] = [];
  for (let i = 0; i < 10; i++) add(50);
  add(5_000);
  waitForCompiler();
  for (let i = 0; i < 5; i++) {
    add(20_000, behindLoop);
    behindLoop[i].waitS = i + 0.25;
  }

  const inRecursion: Holder[] = [];
  for (let i = 0; i < 2_000; i++) descend(5);
  waitForCompiler();
  for (let i = 0; i < 20; i++) descend(5);
  descend(5, inRecursion);
  for (const [i, holder] of inRecursion.entries()) holder.waitS = i + 0.25;

  const lost = (holders: readonly Holder[]) => holders.filter(({ waitS }, i) => waitS !== i + 0.25).length;
  return { loop: lost(behindLoop), recursion: lost(inRecursion) };
}

if (import.meta.main) console.log(lostNumbers());
