/** One policy: its source, trying it, and why it answers as it does. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import './policies.css';
import { useFilters, useGo, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useHasDraft } from '../../core/drafts.ts';
import { readOnce } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Notice, PageHeader, ProblemAlert } from '../../ui/index.ts';
import { texts } from './texts.ts';
import { readPolicy } from './use-editing.ts';
import { Workbench } from './workbench.tsx';

export default function Policy() {
  const t = useTexts(texts);
  const { name = '' } = useRouteParams();
  const { tenant, api } = useTenant();
  const [{ template }] = useFilters(['template']);
  const go = useGo();
  const loaded = useQuery({
    queryKey: ['policies', tenant.code, 'one', name],
    queryFn: async ({ signal }) => (await readPolicy(api, name, signal)) ?? null,
    // It is read once, when the page is opened: what is being edited does not change below the person who edits.
    ...readOnce,
  });
  const hasDraft = useHasDraft(`${tenant.code}/policy/${name}`);
  const back = { to: '/policies', label: t.title };
  if (loaded.data === undefined)
    return (
      <>
        <PageHeader title={name} back={back} />
        {loaded.error ? (
          <ProblemAlert error={loaded.error} onRetry={() => void loaded.refetch()} />
        ) : (
          <span className="skeleton" />
        )}
      </>
    );
  const mayEdit = mayDo(tenant.role, 'edit');
  if (loaded.data === null && (!mayEdit || (template === undefined && !hasDraft)))
    return (
      <>
        <PageHeader title={name} back={back} />
        <Notice>
          <p>{t.noPolicy(name)}</p>
          {mayEdit && <Button onClick={() => go(`/policies/${segment(name)}?template=deny`)}>{t.write}</Button>}
        </Notice>
      </>
    );
  return <Workbench key={`${tenant.code} ${name}`} name={name} stored={loaded.data ?? undefined} />;
}
