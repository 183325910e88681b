/** Defines the colours and the font of the charts. report-page.ts reads them from the page's style sheet. */

export interface Theme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly font: string;
  readonly series: readonly string[];
  readonly waits: readonly string[];
}
