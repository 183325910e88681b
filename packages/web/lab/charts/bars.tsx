/** Bars to the right with their values, in groups with titles. */
import { colourOf } from "@tutti/lab/report/svg/palette.ts";
import { colours } from "./theme.ts";

interface Bar {
  readonly label: string;
  /** NaN: there is none. */
  readonly value: number;
  /** Decides the colour. */
  readonly series: number;
}

interface BarsProps {
  readonly groups: readonly { readonly title?: string; readonly bars: readonly Bar[] }[];
  readonly text: (value: number) => string;
}

/** A bar that can just be seen. */
const LEAST_SHARE = 0.004;

/** Whether values differ so much that only a logarithmic scale shows all of them. */
export function isWide(values: readonly number[]): boolean {
  const known = values.filter((value) => value > 0);
  return known.length > 0 && Math.max(...known) > 50 * Math.min(...known);
}

export function Bars({ groups, text }: BarsProps) {
  const known = groups.flatMap(({ bars }) => bars.map(({ value }) => value)).filter((value) => value > 0);
  const longest = Math.max(...known);
  // The shortest bar of a logarithmic scale has a tenth of a factor of ten.
  const from = groups.length > 1 && isWide(known) ? Math.min(...known) / 10 ** 0.1 : 0;
  const share = (value: number) => {
    if (!(value > 0)) return 0;
    const length = from > 0 ? Math.log(value / from) / Math.log(longest / from) : value / longest;
    return Math.max(LEAST_SHARE, length);
  };
  return groups.map(({ title, bars }, i) => (
    <div key={title ?? i} class="bars">
      {title === undefined ? null : <h3>{title}</h3>}
      <dl>
        {bars.map(({ label, value, series }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <span
                class="bar"
                style={{
                  width: `calc((100% - 5.5rem) * ${share(value)})`,
                  background: colourOf(colours.value, series),
                }}
              />
              {text(value)}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  ));
}
