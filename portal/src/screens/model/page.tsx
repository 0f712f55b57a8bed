/** The pages of the model: their head, and the way from one to the other. */
import { Link as RouterLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { tenantPath } from '../../core/address.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Notice, PageHeader } from '../../ui/index.ts';
import { texts } from './texts.ts';
import './model.css';

const paths = { types: '', relationships: '/relationships', invitations: '/invitations', bulk: '/import' } as const;
type Place = keyof typeof paths;
type Props = { place: Place; about: string; actions?: ReactNode; children: ReactNode };

export function ModelPage({ place, about, actions, children }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const isHidden = place !== 'types' && !mayDo(tenant.role, 'records');
  return (
    <>
      <PageHeader title={place === 'types' ? t.title : t[place]} about={about} actions={!isHidden && actions} />
      <nav className="model-tabs" aria-label={t.title}>
        {(Object.keys(paths) as Place[]).map((one) => (
          <RouterLink
            key={one}
            to={tenantPath(tenant.code, `/model${paths[one]}`) as never}
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ className: 'active' }}
          >
            {t[one]}
          </RouterLink>
        ))}
      </nav>
      {isHidden ? <Notice>{t.mayNot}</Notice> : <div className="stack">{children}</div>}
    </>
  );
}
