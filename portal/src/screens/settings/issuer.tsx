/** One trusted issuer. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useGo, useRouteParams } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import { Confirm, CopyId, curl, Facts, ProblemAlert, RelativeTime, ShowAs, toast } from '../../ui/index.ts';
import { TokenCheck } from './check/token-check.tsx';
import { SettingsPage } from './tabs.tsx';
import { texts } from './texts.ts';

type Issuer = {
  name: string;
  issuer: string;
  jwksUri?: string;
  audiences?: string[];
  algorithms: string[];
  actorIdPrefix?: string;
  clients: string;
  login?: { displayName: string };
  updatedAt: string;
  managedBy: string;
};

export default function IssuerPage() {
  const t = useTexts(texts);
  const go = useGo();
  const { tenant, api } = useTenant();
  const [isDeleting, setDeleting] = useState(false);
  const name = useRouteParams().name ?? '';
  const of = { kind: 'TrustedIssuer', name };
  const path = `/trusted-issuers/${segment(name)}`;
  const found = useQuery({
    queryKey: ['issuers', tenant.code, name],
    queryFn: ({ signal }) => api.get<Issuer>(path, { signal }),
  });
  const issuer = found.data?.data;
  const isManaged = issuer !== undefined && issuer.managedBy !== 'api';
  const facts: [string, ReactNode][] =
    issuer === undefined
      ? []
      : [
          [t.issuer, <CopyId key="issuer" id={issuer.issuer} max={80} />],
          [t.jwks, issuer.jwksUri ?? t.discovered],
          [t.audiences, issuer.audiences?.join(', ')],
          [t.algorithms, issuer.algorithms.join(', ')],
          [t.actorIdPrefix, issuer.actorIdPrefix],
          [t.issuerClients, issuer.clients],
          [t.displayName, issuer.login?.displayName],
          [t.changed, <RelativeTime key="at" at={issuer.updatedAt} />],
        ];
  return (
    <SettingsPage
      place="issuers"
      title={name}
      about={t.issuersAbout}
      actions={<ShowAs curl={curl(api.path(path))} manifest={storedYaml(api, of)} />}
    >
      {found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {issuer && <Owned of={of} owner={issuer.managedBy} may="admin" />}
      {issuer && <Facts facts={facts} isCard />}
      {issuer && mayDo(tenant.role, 'edit') && <TokenCheck issuer={name} />}
      {issuer && !isManaged && mayDo(tenant.role, 'admin') && (
        <div>
          <Button variant="default" onClick={() => setDeleting(true)}>
            {t.deleteIssuer}
          </Button>
        </div>
      )}
      {isDeleting && (
        <Confirm
          title={t.deleteIssuerTitle(name)}
          consequences={t.deleteIssuerWhat}
          action={t.deleteIssuer}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.delete(path, found.data?.etag === undefined ? {} : { ifMatch: found.data.etag });
            toast({ text: t.notTrusted(name) });
            go('/settings/issuers', { replace: true });
            await queryClient.invalidateQueries({ queryKey: ['issuers', tenant.code], exact: true });
          }}
        />
      )}
    </SettingsPage>
  );
}
