/** The pages of the model, and what a role sees of them. */
import type { ReactNode } from 'react';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Notice, TabbedPage } from '../../ui/index.ts';
import { texts } from './texts.ts';
import './model.css';

const paths = { types: '', relationships: '/relationships', invitations: '/invitations', bulk: '/import' } as const;
type Place = keyof typeof paths;
type Props = { place: Place; about: string; actions?: ReactNode; children: ReactNode };

export function ModelPage({ place, about, actions, children }: Props) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const isHidden = place !== 'types' && !mayDo(tenant.role, 'records');
  const tabs = (Object.keys(paths) as Place[]).map((one) => ({
    to: `/model${paths[one]}`,
    label: t[one],
    isFirst: one === 'types',
  }));
  return (
    <TabbedPage
      title={place === 'types' ? t.title : t[place]}
      about={about}
      actions={!isHidden && actions}
      label={t.title}
      tabs={tabs}
    >
      {isHidden ? <Notice>{t.mayNot}</Notice> : children}
    </TabbedPage>
  );
}
