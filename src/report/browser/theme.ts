/** Colours and type of the charts, read from the page's style sheet so that both follow the reader's light or dark mode. */

export interface Theme {
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly surface: string;
  readonly font: string;
  readonly series: readonly string[];
  readonly waits: readonly string[];
}

export function readTheme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const list = (name: string) => {
    const colours: string[] = [];
    for (let i = 0; value(`--${name}-${i}`) !== ""; i++) colours.push(value(`--${name}-${i}`));
    return colours;
  };
  return {
    text: value("--text"),
    muted: value("--muted"),
    line: value("--line"),
    surface: value("--surface"),
    font: getComputedStyle(document.body).fontFamily,
    series: list("series"),
    waits: list("waits"),
  };
}
