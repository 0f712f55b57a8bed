/** Lines and bars over time, with the table behind them. */
import { useLanguage } from '../core/texts.ts';
import { useUiTexts } from './texts.ts';

export type Series = { name: string; values: readonly number[] };
type Props = {
  title: string;
  /** The begin of each step, as many as each series has values. */
  at: readonly (string | Date)[];
  series: readonly Series[];
  kind?: 'line' | 'bar';
  /** How an instant is written below and in the table. */
  timeFormat?: Intl.DateTimeFormatOptions;
};

const [width, height, left, bottom] = [480, 140, 36, 18];
const color = (index: number) => `var(--series-${(index % 4) + 1})`;

/** The next of 1, 2, 5, 10, 20, … that is not below. */
export function niceTop(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= value) ?? value;
}

export function Chart({
  title,
  at,
  series,
  kind = 'line',
  timeFormat = { hour: '2-digit', minute: '2-digit' },
}: Props) {
  const { language } = useLanguage();
  const texts = useUiTexts();
  const when = new Intl.DateTimeFormat(language, timeFormat);
  const labels = at.map((one) => when.format(new Date(one)));
  const totals = at.map((_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0));
  const most = kind === 'bar' ? Math.max(0, ...totals) : Math.max(0, ...series.flatMap((one) => one.values));
  const top = niceTop(most);
  const y = (value: number) => height - bottom - ((height - bottom - 8) * value) / top;
  const x = (i: number) => left + ((width - left - 4) * i) / Math.max(1, kind === 'bar' ? at.length : at.length - 1);
  const number = (value: number) => value.toLocaleString(language);
  return (
    <figure className="chart" style={{ margin: 0 }}>
      <figcaption>
        <strong>{title}</strong>
        <div className="legend">
          {series.map((one, index) => (
            <span key={one.name}>
              <i style={{ background: color(index) }} />
              {one.name}: {number(one.values.reduce((sum, value) => sum + value, 0))}
            </span>
          ))}
        </div>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={title}>
        {[0, top / 2, top].map((value) => (
          <g key={value}>
            <line x1={left} x2={width} y1={y(value)} y2={y(value)} stroke="var(--line)" />
            <text x={left - 6} y={y(value) + 4} textAnchor="end">
              {Number.isInteger(value) ? number(value) : ''}
            </text>
          </g>
        ))}
        {kind === 'bar' ? <Bars {...{ at: labels, series, x, y }} /> : <Lines {...{ series, x, y }} />}
        <text x={left} y={height - 3}>
          {labels[0]}
        </text>
        <text x={width} y={height - 3} textAnchor="end">
          {labels.at(-1)}
        </text>
      </svg>
      <details>
        <summary className="dim">{texts.chartTable}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
        <section className="table-box" style={{ maxHeight: 220 }} tabIndex={0} aria-label={title}>
          <table className="data">
            <thead>
              <tr>
                <th scope="col">{texts.instant}</th>
                {series.map((one) => (
                  <th key={one.name} scope="col" className="numeric">
                    {one.name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {at.map((one, i) => (
                <tr key={String(one)}>
                  <td>{labels[i]}</td>
                  {series.map((each) => (
                    <td key={each.name} className="numeric">
                      {number(each.values[i] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

type Scale = { series: readonly Series[]; x: (i: number) => number; y: (value: number) => number };

const Lines = ({ series, x, y }: Scale) =>
  series.map((one, index) => (
    <polyline
      key={one.name}
      fill="none"
      stroke={color(index)}
      strokeWidth="2"
      strokeLinejoin="round"
      strokeDasharray={['', '6 3', '2 3', '8 3 2 3'][index % 4]}
      points={one.values.map((value, i) => `${x(i)},${y(value)}`).join(' ')}
    />
  ));

const Bars = ({ at, series, x, y }: Scale & { at: readonly string[] }) =>
  at.map((label, i) => {
    let below = 0;
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: steps of time, which do not move
      <g key={i}>
        <title>{`${label}: ${series.map((one) => `${one.name} ${one.values[i] ?? 0}`).join(', ')}`}</title>
        {series.map((one, index) => {
          const value = one.values[i] ?? 0;
          const from = below;
          below += value;
          const size = { width: Math.max(1, x(1) - x(0) - 2), height: Math.max(0, y(from) - y(below)) };
          return <rect key={one.name} x={x(i) + 1} y={y(below)} {...size} fill={color(index)} />;
        })}
      </g>
    );
  });
