/** What the component draws for answers of each kind; in the development server and in tests only. */
import { useMemo } from 'react';
import { queryClient } from '../core/query.ts';
import { TenantContext, tenantContext } from '../core/session.ts';
import type { Model } from '../model/shapes.ts';
import { samples } from './samples.ts';
import { Why } from './why.tsx';

const noModel: Model = { types: [], relationships: [] };
queryClient.setQueryData(['model', 'gallery', 'types'], noModel);

export default function Gallery() {
  const context = useMemo(() => tenantContext({ code: 'gallery', name: 'Gallery', role: 'security-admin' }), []);
  return (
    <TenantContext value={context}>
      <main className="stack" style={{ padding: 16 }}>
        <h1>Why</h1>
        {samples.map(({ name, answer, explain }) => (
          <section key={name} aria-label={name} className="stack">
            <h2>{name}</h2>
            <Why answer={answer} explain={explain} />
          </section>
        ))}
      </main>
    </TenantContext>
  );
}
