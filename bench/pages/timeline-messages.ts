/** What `bench/web-timeline.ts` asks of the page that it drives. */
export interface TimelineBench {
  /** Shows a finished, seeded schedule without gaps. Resolves when it is drawn, with the time in ms. */
  show(jobs: number, cpus: number): Promise<number>;
  /** Shows this share of the time and moves it with every frame. Times of the page's thread in ms. */
  measure(share: number, frames: number): Promise<number[]>;
}
