/** What happens now and what needs somebody; where there is nothing yet, the first steps. */
import { useQuery } from '@tanstack/react-query';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, Notice, PageHeader, ProblemAlert, ShowAs } from '../../ui/index.ts';
import { Answers } from './answers.tsx';
import { Attention } from './attention.tsx';
import { Charts } from './charts.tsx';
import { doneOf, type Firsts, isEmpty, isInUse, type Overview } from './data.ts';
import { Steps } from './steps.tsx';
import { texts } from './texts.ts';
import './overview.css';

const EVERY_MS = 10_000;

export default function First() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const seesRecords = mayDo(tenant.role, 'records');
  const seesFirsts = mayDo(tenant.role, 'edit');
  const overview = useQuery({
    queryKey: ['overview', tenant.code],
    queryFn: async ({ signal }) => (await api.get<Overview>('/overview', { query: { hours: 24 }, signal })).data,
    // Each look of support is audited: it is made once.
    refetchInterval: tenant.role === 'support' ? false : 3 * EVERY_MS,
  });
  const log = overview.data?.decisionLog ?? 'all';
  const firsts = useQuery({
    queryKey: ['overview', tenant.code, 'firsts'],
    queryFn: ({ signal }) => api.graphql<Firsts>('firsts', {}, signal),
    enabled: seesFirsts,
    // A step ticks itself off while somebody looks.
    refetchInterval: ({ state }) => (state.data && isInUse(doneOf(state.data), log) ? false : EVERY_MS),
  });
  const policies = useQuery({
    queryKey: ['overview', tenant.code, 'policies'],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: string[] }>('/policies', { query: { limit: 8 }, signal })).data.resources,
    enabled: !seesFirsts,
  });
  const done = firsts.data && doneOf(firsts.data);
  const begins = done !== undefined && isEmpty(done);
  const names = firsts.data?.allPolicies.nodes.map(({ name }) => name) ?? policies.data;
  const data = overview.data;
  return (
    <>
      <PageHeader title={t.title} about={t.about} actions={<ShowAs curl={curl(api.path('/overview'))} />} />
      <div className="stack">
        {overview.error && <ProblemAlert error={overview.error} onRetry={() => void overview.refetch()} />}
        {firsts.error && <ProblemAlert error={firsts.error} onRetry={() => void firsts.refetch()} />}
        <Answers policies={names} decision={firsts.data?.allDecisions.nodes[0]} />
        <div className="overview">
          <div className="stack">
            {data && <Attention items={data.attention} isRecords={seesRecords} />}
            {done && data && !begins && !isInUse(done, log) && <Steps done={done} decisionLog={log} />}
          </div>
          {done && data && begins && <Steps done={done} decisionLog={log} />}
          {data?.series && !begins && <Charts overview={data} />}
          {data && !seesRecords && <Notice>{t.noRecords}</Notice>}
        </div>
      </div>
    </>
  );
}
