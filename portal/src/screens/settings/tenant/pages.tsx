/** How the tenant's pages look: name, logo, colour, languages. What a manifest owns is read-only. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { mayDo, useTenant } from '../../../core/session.ts';
import { useTexts } from '../../../core/texts.ts';
import { Owned } from '../../../manifests/index.ts';
import { curl, Facts, ProblemAlert, ShowAs } from '../../../ui/index.ts';
import { SettingsPage } from '../tabs.tsx';
import { type Branding, brandingFacts, brandingOf, formOf, type Stored, specOf } from './branding.ts';
import { Contrast } from './contrast.tsx';
import { LogInPreview } from './log-in-preview.tsx';
import { ofTenant, tenantPart } from './manifest.ts';
import { PagesForm } from './pages-form.tsx';
import { texts } from './texts.ts';

export default function Pages() {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['branding', tenant.code],
    queryFn: ({ signal }) => api.get<Stored>('/branding', { signal }),
  });
  const [isChanging, setChanging] = useState(false);
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
            manifest={tenantPart(tenant.code, specOf(stored, {}))}
          />
        )
      }
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {stored && (
        <Owned
          of={ofTenant(tenant.code)}
          owner={stored.managedBy}
          form={{ isOpen: isChanging, onOpen: setChanging }}
          may="admin"
          isReadable={mayDo(tenant.role, 'admin')}
        />
      )}
      {stored &&
        ((isOwn || isChanging) && mayDo(tenant.role, 'admin') ? (
          <PagesForm stored={stored} etag={found.data?.etag} isManaged={!isOwn} />
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
