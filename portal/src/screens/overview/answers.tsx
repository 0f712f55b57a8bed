/** What Accord is for, said by the tenant's own policies and its newest decision. */
import { segment } from '../../core/api.ts';
import { useTexts } from '../../core/texts.ts';
import { Icon, Link, RelativeTime, State } from '../../ui/index.ts';
import type { Decision } from './data.ts';
import { texts } from './texts.ts';

type Props = { policies: readonly string[] | undefined; decision: Decision | undefined };

export function Answers({ policies, decision }: Props) {
  const t = useTexts(texts);
  const first = policies?.[0];
  return (
    <section className="card stack" aria-label={t.whatTitle}>
      <p className="lead">{t.what}</p>
      {policies && policies.length > 0 && (
        <p className="row">
          <span className="dim">{t.decides}</span>
          {policies.map((name) => (
            <Link key={name} to={`/policies/${segment(name)}`} className="chip mono">
              {name}
            </Link>
          ))}
          <Link to="/policies">{t.allPolicies}</Link>
        </p>
      )}
      {decision?.action ? (
        <p className="row">
          <span className="dim">
            <RelativeTime at={decision.at} />
          </span>
          <span>{asked(decision, t)}</span>
          {decision.outcome !== undefined && decision.outcome !== '***' && <Outcome outcome={decision.outcome} />}
          {decision.reason && <span className="dim">{decision.reason}</span>}
          <Link to={`/policies/${segment(decision.action)}?decision=${segment(decision.rowId)}`}>
            {t.why} <Icon name="chevronRight" size={12} />
          </Link>
        </p>
      ) : (
        first !== undefined && (
          <p>
            <Link to={`/policies/${segment(first)}`}>{t.tryIt(first)}</Link>
          </p>
        )
      )}
    </section>
  );
}

const Outcome = ({ outcome }: { outcome: string }) => (
  <State tone={outcome === 'allow' ? 'ok' : 'bad'} icon={outcome === 'allow' ? 'allow' : 'deny'}>
    {outcome}
  </State>
);

function asked(
  { action = '', subjectType, subjectId, resourceType, resourceId }: Decision,
  t: { asked: (...names: [string, string, string]) => string },
) {
  const subject = [subjectType, subjectId].filter(Boolean).join(' ');
  const resource = [resourceType, resourceId].filter(Boolean).join(' ');
  return t.asked(subject, action, resource);
}
