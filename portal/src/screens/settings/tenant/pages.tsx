/** How the tenant's pages look: name, logo, colour, languages. What a manifest owns is read-only. */
import { useQuery } from '@tanstack/react-query';
import { mayDo, useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { curl, Facts, ManagedBy, ProblemAlert, ShowAs } from '../../../ui/index.ts';
import { SettingsPage } from '../tabs.tsx';
import { type Branding, brandingFacts, brandingOf, formOf, type Stored } from './branding.ts';
import { Contrast } from './contrast.tsx';
import { LogInPreview } from './log-in-preview.tsx';
import { tenantManifest } from './manifest.ts';
import { PagesForm } from './pages-form.tsx';
import { texts } from './texts.ts';

export default function Pages() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['branding', tenant.code],
    queryFn: ({ signal }) => api.get<Stored>('/branding', { signal }),
  });
  const stored = found.data?.data;
  const isOwn = stored?.managedBy === 'api';
  return (
    <SettingsPage
      place="pages"
      about={t.pagesAbout}
      actions={
        stored && (
          <ShowAs
            curl={curl(api.path('/branding'), isOwn ? { method: 'PUT', body: plain(stored) } : {})}
            manifest={tenantManifest(tenant.code, stored.managedBy, specOf(stored))}
          />
        )
      }
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {stored && !isOwn && <ManagedBy owner={stored.managedBy} />}
      {stored &&
        (isOwn && mayDo(tenant.role, 'admin') ? (
          <PagesForm stored={stored} etag={found.data?.etag} />
        ) : (
          <>
            <Facts isCard facts={brandingFacts(stored, t)} />
            <Contrast of={formOf(stored)} />
            <LogInPreview of={formOf(stored)} />
          </>
        ))}
    </SettingsPage>
  );
}

const plain = (stored: Stored): Branding => brandingOf(formOf(stored));

function specOf({ displayName, logo, colours, languages, sharingPage }: Branding): object {
  return { displayName, login: { brand: { logo, colours }, languages, sharingPage: sharingPage ?? false } };
}
