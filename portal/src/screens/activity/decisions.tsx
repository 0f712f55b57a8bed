/** The decision log. */
import type { ReactNode } from 'react';
import { useFilters } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useLanguage, useTexts } from '../../core/texts.ts';
import {
  ChoiceFilter,
  CodeBlock,
  CopyId,
  curl,
  DataTable,
  Facts,
  Filters,
  Link,
  Notice,
  RelativeTime,
  ShowAs,
  SidePanel,
  State,
  TextFilter,
  WithPanel,
} from '../../ui/index.ts';
import { ActivityPage, maySee } from './tabs.tsx';
import { texts } from './texts.ts';

type Entity = { type?: string; id?: string };
type Decision = {
  id: string;
  time: string;
  caller: string;
  action?: string;
  request: { subject?: Entity; resource?: Entity };
  answer: { outcome?: unknown; reason?: string };
  requestId?: string;
};
const names = ['action', 'outcome', 'subjectId', 'resourceId', 'reason'] as const;
/** As the server masks ids. */
const hidden = '***';
const nameOf = (entity: Entity | undefined, none: string) =>
  entity === undefined ? none : [entity.type, entity.id].filter((one) => one !== undefined).join('/') || none;

export default function Decisions() {
  const { tenant } = useTenant();
  const t = useTexts(texts);
  if (maySee(tenant.role, 'decisions')) return <Log />;
  return (
    <ActivityPage place="decisions" about={t.about}>
      <Notice>{t.notForRole}</Notice>
    </ActivityPage>
  );
}

function Log() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [filters, set] = useFilters(names);
  const [opened, setOpened] = useRecord<Decision>();
  // It is not told of whom and of what a decision was.
  const isMasked = tenant.role === 'support';
  const pages = usePages(['decisions', tenant.code, filters], async (cursor, signal) => {
    const query = { ...filters, limit: 50, cursor };
    const { data } = await api.get<{ decisions: Decision[]; cursor?: string }>('/decisions', { query, signal });
    return { rows: data.decisions, after: data.cursor };
  });
  const labels = { action: t.action, subjectId: t.subject, resourceId: t.resource, reason: t.reason };
  return (
    <ActivityPage
      place="decisions"
      about={t.decisionsAbout}
      actions={<ShowAs curl={curl(api.path('/decisions', filters))} />}
    >
      <Filters onClear={() => set(Object.fromEntries(names.map((name) => [name, undefined])))}>
        <ChoiceFilter
          label={t.outcome}
          {...(filters.outcome === undefined ? {} : { value: filters.outcome })}
          options={[
            { value: 'allow', label: t.allow },
            { value: 'deny', label: t.deny },
          ]}
          onChange={(outcome) => set({ outcome })}
        />
        {(['action', 'subjectId', 'resourceId', 'reason'] as const).map((one) => (
          <TextFilter
            key={one}
            label={labels[one]}
            {...(filters[one] === undefined ? {} : { value: filters[one] })}
            onChange={(value) => set({ [one]: value })}
          />
        ))}
      </Filters>
      <WithPanel panel={opened && <Details decision={opened} onClose={() => setOpened(undefined)} />}>
        <DataTable
          label={t.decisions}
          pages={pages}
          rowKey={({ id }) => id}
          onOpen={setOpened}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={
            <p className="dim">
              {t.noDecisions} {t.noDecisionsWhy}
            </p>
          }
          columns={[
            { id: 'time', header: t.when, cell: ({ time }) => <RelativeTime at={time} /> },
            { id: 'answer', header: t.answer, cell: ({ answer }) => <Outcome outcome={answer.outcome} /> },
            {
              id: 'question',
              header: t.question,
              cell: ({ request: { subject, resource }, action }) =>
                t.decided(
                  nameOf(subject, isMasked ? hidden : t.nobody),
                  action ?? '',
                  nameOf(resource, isMasked ? hidden : t.nothing),
                ),
            },
            { id: 'reason', header: t.reason, cell: ({ answer }) => answer.reason ?? '' },
            { id: 'caller', header: t.caller, cell: ({ caller }) => caller },
          ]}
        />
      </WithPanel>
    </ActivityPage>
  );
}

function Outcome({ outcome }: { outcome: unknown }) {
  const t = useTexts(texts);
  if (outcome === 'allow') return <State tone="ok">{t.allow}</State>;
  if (outcome === 'deny')
    return (
      <State tone="bad" icon="deny">
        {t.deny}
      </State>
    );
  return <State tone="none">{t.object}</State>;
}

function Details({ decision, onClose }: { decision: Decision; onClose: () => void }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const isMasked = useTenant().tenant.role === 'support';
  const { id, action, requestId, ...recorded } = decision;
  const { time, caller, request, answer } = decision;
  const facts: [string, ReactNode][] = [
    [t.answer, <Outcome key="answer" outcome={answer.outcome} />],
    [t.reason, answer.reason],
    [t.who, nameOf(request.subject, isMasked ? hidden : t.nobody)],
    [t.action, action],
    [t.on, nameOf(request.resource, isMasked ? hidden : t.nothing)],
    [t.when, new Date(time).toLocaleString(language, { dateStyle: 'long', timeStyle: 'long' })],
    [t.caller, caller],
    [t.requestId, requestId !== undefined && <CopyId key="request" id={requestId} max={40} />],
  ];
  return (
    <SidePanel label={t.details} title={action ?? t.details} onClose={onClose}>
      <div className="stack">
        <Facts facts={facts} />
        {action !== undefined && action !== hidden && (
          <Link to={`/policies/${segment(action)}?decision=${segment(id)}`}>{t.openPolicy}</Link>
        )}
        <details>
          <summary>{t.raw}</summary>
          <CodeBlock code={JSON.stringify(recorded, undefined, 2)} />
        </details>
      </div>
    </SidePanel>
  );
}
