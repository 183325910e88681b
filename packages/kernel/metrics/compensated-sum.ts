/**
 * Adds numbers without losing small terms among large ones (Neumaier 1974, "Rundungsfehleranalyse einiger
 * Verfahren zur Summation endlicher Summen"). The error does not grow with the number of terms, so a mean
 * over ten million jobs is as accurate as a mean over ten.
 */

/** A running compensated sum. */
export class CompensatedSum {
  #sum = 0;
  #lost = 0;

  add(term: number): void {
    const sum = this.#sum + term;
    if (Math.abs(this.#sum) >= Math.abs(term)) this.#lost += this.#sum - sum + term;
    else this.#lost += term - sum + this.#sum;
    this.#sum = sum;
  }

  get value(): number {
    return this.#sum + this.#lost;
  }
}

/** Compensated sum of `values[from]` … `values[to − 1]`. */
export function sumOf(values: ArrayLike<number>, from = 0, to = values.length): number {
  const sum = new CompensatedSum();
  for (let i = from; i < to; i++) sum.add(values[i]);
  return sum.value;
}
