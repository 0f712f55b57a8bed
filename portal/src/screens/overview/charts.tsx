/** The last day in four charts, and why was denied. */
import { useTexts } from '../../core/texts.ts';
import { Chart, DataTable, RelativeTime, type Series } from '../../ui/index.ts';
import type { Overview } from './data.ts';
import { texts } from './texts.ts';

type Buckets = ({ at: string } & Record<string, number | string>)[];

export function Charts({ overview }: { overview: Overview }) {
  const t = useTexts(texts);
  const { series, denies, decisionLog } = overview;
  if (series === undefined) return null;
  const at = series.decisions.map((bucket) => bucket.at);
  const of = (buckets: Buckets, names: Record<string, string>): Series[] =>
    Object.entries(names).map(([member, name]) => ({ name, values: buckets.map((one) => Number(one[member] ?? 0)) }));
  const ended = series.relationships.map((one) => ({ ...one, ended: Number(one.deleted) + Number(one.expired) }));
  return (
    <section className="stack" aria-label={t.lastDay}>
      <h2>{t.lastDay}</h2>
      <div className="charts">
        <div className="card">
          <Chart title={t.decisions} kind="bar" at={at} series={of(series.decisions, t.outcomes)} />
          {decisionLog !== 'all' && <p className="dim">{t.decisionLogs[decisionLog]}</p>}
        </div>
        <div className="card">
          <Chart title={t.sharing} at={at} series={[...of(series.invitations, t.invited), ...of(ended, t.related)]} />
        </div>
        <div className="card">
          <Chart title={t.consents} kind="bar" at={at} series={of(series.consents, t.agreed)} />
        </div>
        <div className="card">
          <Chart title={t.deliveries} kind="bar" at={at} series={of(series.deliveries, t.delivered)} />
          {overview.deliveriesSince && (
            <p className="dim">
              {t.countedSince} <RelativeTime at={overview.deliveriesSince} />
            </p>
          )}
        </div>
      </div>
      {denies && denies.reasons.length > 0 && (
        <>
          <h2>{t.denies}</h2>
          <DataTable
            label={t.denies}
            pages={{ rows: denies.reasons }}
            rowKey={({ reason }) => reason}
            columns={[
              { id: 'reason', header: t.reason, cell: ({ reason }) => reason || t.noReason },
              { id: 'count', header: t.count, numeric: true, cell: ({ count }) => count },
            ]}
          />
        </>
      )}
    </section>
  );
}
