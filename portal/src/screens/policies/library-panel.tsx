/** A module of a library that a decision went through: the source, to read. */
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { ProblemAlert, SidePanel } from '../../ui/index.ts';
import { texts } from './texts.ts';

const CodeEditor = lazy(async () => ({ default: (await import('../../editor/code-editor.tsx')).CodeEditor }));
type Library = { package: string; modules: { name: string; rego: string }[] };

export function LibraryPanel({ module, onClose }: { module: string; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['policies', tenant.code, 'library', module],
    queryFn: async ({ signal }) => {
      const { data } = await api.get<{ resources: string[] }>('/policy-libraries', { signal });
      for (const name of data.resources) {
        const library = (await api.get<Library>(`/policy-libraries/${segment(name)}`, { signal })).data;
        const one = library.modules.find((each) => module === each.name || module.endsWith(`/${each.name}`));
        if (one) return { ...one, package: name };
      }
      return null;
    },
  });
  return (
    <SidePanel title={module} label={t.library} onClose={onClose}>
      {found.error && <ProblemAlert error={found.error} />}
      {found.data === null && <p className="dim">{t.noLibrary(module)}</p>}
      {found.data && (
        <div className="stack">
          <p className="dim">{t.ofLibrary(found.data.package)}</p>
          <Suspense fallback={<span className="skeleton" />}>
            <CodeEditor label={t.library} language="rego" value={found.data.rego} readOnly />
          </Suspense>
        </div>
      )}
    </SidePanel>
  );
}
