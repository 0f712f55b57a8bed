/** Erasing a person: what goes, with counts, before it goes; then the report, which can be kept. */
import { Button, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { saveFile } from '../../core/save-file.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Icon, Notice, ProblemAlert, Progress, SidePanel } from '../../ui/index.ts';
import { type Entity, text } from './shapes.ts';
import { texts } from './texts.ts';

type Kept = { what: string; why: string; until: string };
type Preview = { removed: Record<string, number>; complete: boolean; kept: Kept[] };
type Report = { status: 'erased' | 'running'; removed: Record<string, number>; kept: Kept[] };

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);

export function Erase({ of, onClose }: { of: Entity; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  // Where somebody is known by an address alone, it is the id, too.
  const first = /.@.+\../.test(of.id) ? of.id : '';
  const [address, setAddress] = useState(first);
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState(first);
  const erasing = useErasing(of);
  const body = asked === '' ? {} : { contacts: [{ type: 'email', value: asked }] };
  const path = `/actors/${segment(of.type)}/${segment(of.id)}/erase`;
  const preview = useQuery({
    queryKey: ['people', tenant.code, of, 'erase', asked],
    queryFn: async ({ signal }) => (await api.post<Preview>(`${path}/preview`, { body, signal })).data,
    enabled: erasing.report === undefined,
  });
  const { report } = erasing;
  // What is erased is what was counted: the records of an address that was typed since are not among it.
  const isCounted = address.trim() === asked;
  return (
    <SidePanel
      title={t.eraseTitle(text(of))}
      label={t.erase}
      onClose={onClose}
      onEscape={report?.status === 'erased' ? 'stays' : 'asks'}
      isBusy={erasing.isBusy}
    >
      {report?.status === 'erased' ? (
        <Done of={of} report={report} />
      ) : erasing.isBusy ? (
        <Progress
          label={t.erasing}
          done={sum(report?.removed ?? {})}
          total={preview.data?.complete ? Math.max(sum(preview.data.removed), sum(report?.removed ?? {})) : undefined}
          onCancel={erasing.stop}
        />
      ) : (
        <div className="stack">
          <p>{t.eraseAbout}</p>
          <form
            className="search-form"
            onSubmit={(event) => {
              event.preventDefault();
              setAsked(address.trim());
            }}
          >
            <TextInput
              className="wide"
              type="email"
              label={t.eraseAddress}
              description={t.eraseAddressAbout}
              value={address}
              onChange={(event) => setAddress(event.currentTarget.value)}
            />
            <Button type="submit" variant="default">
              {t.countAgain}
            </Button>
          </form>
          {preview.error && <ProblemAlert error={preview.error} onRetry={() => preview.refetch()} />}
          {preview.isLoading && <p role="status">{t.counting}</p>}
          {preview.data && (
            <>
              <Counts title={t.wouldGo(sum(preview.data.removed))} counts={preview.data.removed} />
              {!preview.data.complete && <Notice tone="warn">{t.atLeast}</Notice>}
              <KeptList kept={preview.data.kept} />
              <TextInput
                label={t.typeId(of.id)}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
              />
              {erasing.error !== undefined && <ProblemAlert error={erasing.error} />}
              {!isCounted && <Notice tone="warn">{t.countFirst}</Notice>}
              <Button color="red.9" disabled={typed !== of.id || !isCounted} onClick={() => erasing.start(path, body)}>
                {report === undefined ? t.eraseNow : t.eraseOn}
              </Button>
            </>
          )}
        </div>
      )}
    </SidePanel>
  );
}

/** Asks again until nothing is left: one request works for 20 seconds at most. */
function useErasing(of: Entity) {
  const { tenant, api } = useTenant();
  const [report, setReport] = useState<Report>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const stopped = useRef(false);
  // On another page nobody sees how far it is: what is left waits for somebody who goes on.
  useEffect(
    () => () => {
      stopped.current = true;
    },
    [],
  );
  const start = async (path: string, body: object) => {
    setBusy(true);
    setError(undefined);
    stopped.current = false;
    let so: Report;
    try {
      do {
        const { data } = await api.post<Report>(path, { body });
        // The server counts on from the request before.
        so = data;
        setReport(so);
      } while (so.status === 'running' && !stopped.current);
      await queryClient.invalidateQueries({ queryKey: ['people', tenant.code, of] });
    } catch (caught) {
      setError(caught);
    }
    setBusy(false);
  };
  const stop = () => {
    stopped.current = true;
  };
  return { report, error, isBusy, start, stop };
}

function Counts({ title, counts }: { title: string; counts: Record<string, number> }) {
  const t = useTexts(texts);
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return (
    <section className="stack">
      <h3>{title}</h3>
      <dl className="counts">
        {some.map(([name, count]) => (
          <Count key={name} name={t.records[name as keyof typeof t.records] ?? name} count={count} />
        ))}
      </dl>
    </section>
  );
}

const Count = ({ name, count }: { name: string; count: number }) => (
  <>
    <dt>{name}</dt>
    <dd>{count.toLocaleString()}</dd>
  </>
);

function KeptList({ kept }: { kept: readonly Kept[] }) {
  const t = useTexts(texts);
  return (
    <details>
      <summary>{t.kept(kept.length)}</summary>
      <ul>
        {kept.map((one) => (
          <li key={one.what}>
            {one.what}: {one.why} ({one.until})
          </li>
        ))}
      </ul>
    </details>
  );
}

function Done({ of, report }: { of: Entity; report: Report }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const save = () => {
    const file = { tenant: tenant.code, actor: of, erasedAt: new Date().toISOString(), ...report };
    saveFile(`erasure-${tenant.code}.json`, `${JSON.stringify(file, undefined, 2)}\n`);
  };
  return (
    <div className="stack" role="status">
      <Notice>{t.erased(text(of))}</Notice>
      <Counts title={t.gone(sum(report.removed))} counts={report.removed} />
      <KeptList kept={report.kept} />
      <Button leftSection={<Icon name="download" />} onClick={save}>
        {t.keepReport}
      </Button>
    </div>
  );
}
