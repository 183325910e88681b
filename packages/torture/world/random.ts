/** Draws of the world: the laboratory's generator, with a stream of its own for each part. */
import { Random as Generator, seedOfPart } from "@tutti/kernel/core/random.ts";
import type { Random } from "./contract.ts";

export class Draws implements Random {
  readonly #seed: number;
  readonly #generator: Generator;

  /** @param seed any integer of at most 53 bits */
  constructor(seed: number) {
    this.#seed = seed;
    this.#generator = new Generator(seed, "world");
  }

  unit(): number {
    return this.#generator.uniform();
  }

  below(count: number): number {
    return this.#generator.below(count);
  }

  between(low: number, high: number): number {
    return low + this.#generator.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.#generator.uniform() < probability;
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.#generator.below(items.length)];
  }

  fork(name: string): Random {
    return new Draws(seedOfPart(this.#seed, name));
  }
}
