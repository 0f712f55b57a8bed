/** The texts of mails. */
import { useGo } from '../../core/address.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, DataTable, ProblemAlert, ShowAs, State } from '../../ui/index.ts';
import { ActivityPage } from './tabs.tsx';
import { pathOf, useTemplates } from './template-languages.tsx';
import { texts } from './texts.ts';

export default function Templates() {
  const t = useTexts(texts);
  const go = useGo();
  const { api } = useTenant();
  const found = useTemplates();
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
          onOpen={(one) => go(pathOf(one))}
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
