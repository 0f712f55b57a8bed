/** The texts of mails. */
import { useQuery } from '@tanstack/react-query';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, ProblemAlert, ShowAs, State } from '../../ui/index.ts';
import { ActivityPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Template = { name: string; language: string; builtIn: boolean };

export default function Templates() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['templates', tenant.code],
    queryFn: ({ signal }) => api.get<{ templates: Template[] }>('/mail/templates', { signal }),
  });
  return (
    <ActivityPage
      place="templates"
      about={t.templatesAbout}
      actions={<ShowAs curl={curl(api.path('/mail/templates'))} />}
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {found.data && (
        <DataTable
          label={t.templates}
          pages={{ rows: found.data.data.templates }}
          rowKey={({ name, language }) => `${name}/${language}`}
          onOpen={({ name, language }) => go(`/activity/templates/${segment(name)}/${segment(language)}`)}
          columns={[
            { id: 'name', header: t.name, cell: ({ name }) => <span className="mono">{name}</span> },
            { id: 'language', header: t.language, cell: ({ language }) => language },
            {
              id: 'origin',
              header: t.origin,
              cell: ({ builtIn }) => <State tone={builtIn ? 'none' : 'accent'}>{builtIn ? t.builtIn : t.own}</State>,
            },
          ]}
        />
      )}
    </ActivityPage>
  );
}
