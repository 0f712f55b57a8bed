/** The pages of the settings, and who sees which. */
import { type Role, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { type PageOf, TabbedPage } from '../../ui/index.ts';
import { texts } from './texts.ts';

export type Place = 'members' | 'clients' | 'issuers' | 'keys' | 'pages' | 'limits' | 'manifests' | 'token' | 'audit';

const ofTenant: readonly Place[] = ['clients', 'issuers', 'keys', 'pages', 'limits', 'manifests'];

/** What a role may read; the server refuses the rest. */
const places: Record<Role, readonly Place[]> = {
  'security-admin': ['members', ...ofTenant, 'token', 'audit'],
  'config-editor': [...ofTenant, 'token'],
  'config-viewer': [...ofTenant, 'token'],
  support: [...ofTenant, 'token', 'audit'],
};

/** @param title of an object of the place; absent: the place itself */
export function SettingsPage({ place, title, ...rest }: PageOf<Place>) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const tabs = places[tenant.role].map((one) => ({ to: `/settings/${one}`, label: t[one] }));
  return <TabbedPage title={title ?? t[place]} label={t.title} tabs={tabs} {...rest} />;
}
