/** A definition on one line of time: versions as bands, documents as ticks, ends of life that fade, and "today", which moves. */
import { type PointerEvent, useRef } from 'react';
import { useLanguage, useTexts } from '../../core/texts.ts';
import { type Scale, scaleOf } from './scale.ts';
import { graceEnds, inEffect, type SeenVersion } from './seen.ts';
import { texts } from './texts.ts';

const [width, left, right, top, axis] = [960, 110, 16, 26, 24];
const [band, lane] = [18, 16];

type Props = { versions: readonly SeenVersion[]; now: number; at: number; onMove: (at: number) => void };

export function TimeLine({ versions, now, at, onMove }: Props) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const svg = useRef<SVGSVGElement>(null);
  const scale = scaleOf(versions, now);
  const x = (instant: number) => left + ((width - left - right) * (instant - scale.from)) / (scale.until - scale.from);
  const rows = rowsOf(versions);
  const height = top + rows.reduce((sum, row) => sum + row.height, 0) + axis;
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const drag = (event: PointerEvent<SVGSVGElement>) => {
    const box = svg.current?.getBoundingClientRect();
    if (box === undefined || (event.type === 'pointermove' && event.buttons === 0)) return;
    const share = ((event.clientX - box.left) * (width / box.width) - left) / (width - left - right);
    const instant = scale.from + Math.min(1, Math.max(0, share)) * (scale.until - scale.from);
    onMove(Math.round(instant / scale.step) * scale.step);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section className="time-line-box" tabIndex={0} aria-label={t.timeLineOf(versions.length)}>
      <div className="time-line">
        <svg
          ref={svg}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={t.timeLineOf(versions.length)}
          onPointerDown={drag}
          onPointerMove={drag}
        >
          <Axis scale={scale} x={x} height={height} />
          {rows.map((row) => (
            <Version key={row.version.version} row={row} x={x} end={width - right} />
          ))}
          <line className="real" x1={x(now)} x2={x(now)} y1={top - 4} y2={height - axis} />
          <line className="today" x1={x(at)} x2={x(at)} y1={top - 8} y2={height - axis} />
          <circle className="handle" cx={x(at)} cy={top - 8} r="5" />
          <text x={Math.min(Math.max(x(at), left + 40), width - 90)} y={12} textAnchor="middle">
            {exact.format(at)} UTC
          </text>
        </svg>
        <input
          type="range"
          aria-label={t.today}
          aria-valuetext={`${exact.format(at)} UTC`}
          style={{
            marginLeft: `${(left / width) * 100 - 0.8}%`,
            width: `${((width - left - right) / width) * 100 + 1.6}%`,
          }}
          {...{ min: scale.from, max: scale.until, step: scale.step, value: at }}
          onChange={(event) => onMove(Number(event.currentTarget.value))}
        />
      </div>
    </section>
  );
}

type Row = { version: SeenVersion; languages: string[]; y: number; height: number };

function rowsOf(versions: readonly SeenVersion[]): Row[] {
  let y = top;
  return versions.map((version) => {
    const languages = [...new Set(version.documents.map((one) => one.language))];
    const height = band + Math.max(1, languages.length) * lane + 14;
    const row = { version, languages, y, height };
    y += height;
    return row;
  });
}

/** The documents of a language, oldest first; only the last of those that stand close together has its name beside it. */
function ticksOf(version: SeenVersion, language: string, x: (instant: number) => number) {
  const documents = inEffect(version, Number.POSITIVE_INFINITY, language);
  return documents.map(({ version: document, effectiveDate }, n) => {
    const next = documents[n + 1];
    const room = next === undefined ? Number.POSITIVE_INFINITY : x(next.effectiveDate) - x(effectiveDate);
    return { document, at: x(effectiveDate), isNamed: room > document.length * 6.5 + 10 };
  });
}

type Placed = { x: (instant: number) => number };

function Axis({ scale, x, height }: Placed & { scale: Scale; height: number }) {
  const { language } = useLanguage();
  // Within some days, dates would be the same.
  const isShort = scale.until - scale.from < 8 * 86_400_000;
  const day = new Intl.DateTimeFormat(language, {
    ...(isShort ? { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' } : { dateStyle: 'medium' }),
    timeZone: 'UTC',
  });
  const at = [0, 1, 2, 3, 4].map((n) => scale.from + ((scale.until - scale.from) * n) / 4);
  return at.map((one, n) => (
    <g key={one}>
      <line className="axis" x1={x(one)} x2={x(one)} y1={top} y2={height - axis} />
      <text className="dim" x={x(one)} y={height - 6} textAnchor={n === 4 ? 'end' : n === 0 ? 'start' : 'middle'}>
        {day.format(one)}
      </text>
    </g>
  ));
}

function Version({ row: { version, languages, y, height }, x, end }: Placed & { row: Row; end: number }) {
  const t = useTexts(texts);
  const from = inEffect(version, Number.POSITIVE_INFINITY)[0]?.effectiveDate;
  const { endOfLife } = version;
  const box = (a: number, b: number) => ({ x: a, width: Math.max(1, b - a), y: y + 4, height: band - 2, rx: 3 });
  return (
    <g>
      <text x={4} y={y + 17}>
        {t.versionShort(version.version)}
      </text>
      {from !== undefined && (
        <rect className="band" {...box(x(from), endOfLife ? Math.max(x(from), x(endOfLife.startDate)) : end)} />
      )}
      {endOfLife && (
        <>
          <rect className="ending" {...box(x(endOfLife.startDate), x(endOfLife.endDate))}>
            <title>{t.endsWithin}</title>
          </rect>
          <rect
            className="grace"
            {...box(x(endOfLife.startDate), x(graceEnds(endOfLife, endOfLife.startDate)))}
            height={5}
          >
            <title>{t.graceWithin}</title>
          </rect>
        </>
      )}
      {languages.map((language, n) => (
        <g key={language}>
          <text className="dim" x={12} y={y + band + 13 + n * lane}>
            {language.length > 15 ? `${language.slice(0, 14)}…` : language}
          </text>
          {ticksOf(version, language, x).map(({ document, at, isNamed }) => (
            <g key={document}>
              <line className="tick" x1={at} x2={at} y1={y + band + 3 + n * lane} y2={y + band + 15 + n * lane}>
                <title>{document}</title>
              </line>
              {isNamed && (
                <text
                  className="dim"
                  x={at + (at > end - 90 ? -5 : 5)}
                  y={y + band + 13 + n * lane}
                  textAnchor={at > end - 90 ? 'end' : 'start'}
                >
                  {document}
                </text>
              )}
            </g>
          ))}
        </g>
      ))}
      <line className="axis" x1={0} x2={end} y1={y + height - 4} y2={y + height - 4} />
    </g>
  );
}
