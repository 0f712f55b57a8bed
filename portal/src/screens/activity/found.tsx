/** What carries an id that somebody pasted: each record, with the way to its place. */
import { useFilters } from '../../core/address.ts';
import { usePages } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useRecord } from '../../core/session-end.ts';
import { useTexts } from '../../core/texts.ts';
import {
  CodeBlock,
  CopyId,
  curl,
  DataTable,
  Filters,
  Link,
  PageHeader,
  RelativeTime,
  ShowAs,
  SidePanel,
  TextFilter,
  WithPanel,
} from '../../ui/index.ts';
import { type LookupResult, lookUp, placeOf } from './lookup.ts';
import { texts } from './texts.ts';

export default function FoundPage() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [{ id }, set] = useFilters(['id']);
  const [opened, setOpened] = useRecord<LookupResult>();
  const pages = usePages(
    ['activity', tenant.code, 'found', id],
    async (_after, signal) => ({ rows: await lookUp(api, id ?? '', signal), after: undefined }),
    { enabled: id !== undefined },
  );
  return (
    <>
      <PageHeader
        title={t.found}
        about={t.foundAbout}
        back={{ to: '/activity', label: t.title }}
        actions={<ShowAs curl={curl(api.path('/lookup', { id: id ?? 'ID' }))} />}
      />
      <Filters>
        <TextFilter
          label={t.idOrRequest}
          {...(id === undefined ? {} : { value: id })}
          onChange={(value) => set({ id: value?.trim() })}
        />
      </Filters>
      <WithPanel panel={opened && <Details of={opened} onClose={() => setOpened(undefined)} />}>
        <DataTable<LookupResult>
          label={t.found}
          pages={pages}
          rowKey={({ id: own }) => own}
          onOpen={(one) => setOpened(one)}
          {...(opened === undefined ? {} : { selected: opened.id })}
          empty={<p className="dim">{t.foundNothing}</p>}
          columns={[
            { id: 'kind', header: t.type, cell: ({ kind }) => t.foundKinds[kind] },
            {
              ...{ id: 'what', header: t.what },
              cell: (one) => <Link to={placeOf(one, tenant.role)}>{[one.what, one.action ?? one.name].join(' ')}</Link>,
            },
            { id: 'by', header: t.caller, cell: ({ by }) => by ?? '' },
            { id: 'time', header: t.when, cell: ({ at }) => <RelativeTime at={at} /> },
          ]}
        />
      </WithPanel>
    </>
  );
}

function Details({ of, onClose }: { of: LookupResult; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  return (
    <SidePanel label={t.details} title={t.foundKinds[of.kind]} onClose={onClose}>
      <div className="stack">
        <Link to={placeOf(of, tenant.role)}>{t.openPlace}</Link>
        <CopyId id={of.id} max={40} />
        <CodeBlock code={JSON.stringify(of, undefined, 2)} />
      </div>
    </SidePanel>
  );
}
