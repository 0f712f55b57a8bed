/** The logs of what happened, and who sees which. */
import { type Role, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { type PageOf, TabbedPage } from '../../ui/index.ts';
import { texts } from './texts.ts';

export type Place = 'decisions' | 'events' | 'subscriptions' | 'mail' | 'templates' | 'query';

/** What a role may read; the server refuses the rest. */
const places: Record<Role, readonly Place[]> = {
  'security-admin': ['decisions', 'events', 'subscriptions', 'mail', 'templates', 'query'],
  'config-editor': ['decisions', 'events', 'subscriptions', 'mail', 'templates', 'query'],
  'config-viewer': ['subscriptions', 'templates'],
  support: ['decisions', 'subscriptions', 'mail', 'templates'],
};
const pathOf = (place: Place) => (place === 'decisions' ? '/activity' : `/activity/${place}`);

export const maySee = (role: Role, place: Place) => places[role].includes(place);

export function ActivityPage({ place, title, ...rest }: PageOf<Place>) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const tabs = places[tenant.role].map((one) => ({ to: pathOf(one), label: t[one], isFirst: one === 'decisions' }));
  return (
    <TabbedPage title={title ?? (place === 'decisions' ? t.title : t[place])} label={t.title} tabs={tabs} {...rest} />
  );
}
