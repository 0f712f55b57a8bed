/**
 * Mails about consents, where the Tenant's spec.consentMail asks for them: that one ends, and that one was given. They go to the
 * verified address of the user's account at the tenant's own issuer, in the transaction of what they tell. Users that have none
 * are known to the tenant alone: they get no mail from here, which is counted.
 */
import { verifiedAddresses } from '../accounts/index.ts';
import { type MailMessage, type MailServices, sendMail } from '../mail/index.ts';
import { readTenant, type TenantSpec } from '../tenants/index.ts';
import type { RecordUnit } from '../writes/index.ts';

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** Users have no verified address. */
    consent_mail_unaddressed: { tenant: string; template: string; count: number };
  }
}

const DAY_MS = 86_400_000;

type ConsentMail = NonNullable<TenantSpec['consentMail']>;
type Renewal = {
  userId: string;
  name: string;
  /** RFC 3339: the last instant of the grace. */
  endsAt: string;
};
type Receipt = { userId: string; name: string; language: string };

/** A grace has begun, or ends soon. */
export function mailRenewals(services: MailServices, unit: RecordUnit, renewals: readonly Renewal[]): Promise<void> {
  return mailAll(services, unit, 'consent-renewal', renewals, ({ name, endsAt }, linked) => ({
    ...{ variables: { ...linked, consent: name, endsAt }, expiresAt: endsAt },
  }));
}

/** Whether another mail says something new: where a grace is short, its end is told of as soon as it begins. */
export function isAgainWorthAMail(invitedAt: string, now: number): boolean {
  return now - Date.parse(invitedAt) >= DAY_MS;
}

/** Consents were given. */
export function mailReceipts(services: MailServices, unit: RecordUnit, receipts: readonly Receipt[]): Promise<void> {
  return mailAll(services, unit, 'consent-receipt', receipts, ({ name, language }, linked) => ({
    ...{ variables: { ...linked, consent: name, registeredAt: unit.nowText }, language },
  }));
}

const settingOf = { 'consent-renewal': 'renewal', 'consent-receipt': 'receipt' } as const;
type Template = keyof typeof settingOf;
type Written<Of extends Template> = Pick<MailMessage<Of>, 'variables' | 'expiresAt' | 'language'>;

async function mailAll<Of extends Template, News extends { userId: string }>(
  services: MailServices,
  unit: RecordUnit,
  template: Of,
  news: readonly News[],
  write: (one: News, linked: { application: string; actionUrl: string }) => Written<Of>,
): Promise<void> {
  if (news.length === 0) return;
  const { tx, tenant } = unit;
  const spec = (await readTenant(tx, tenant))?.spec;
  const wanted: ConsentMail | undefined = spec?.consentMail;
  if (spec === undefined || wanted === undefined || !wanted[settingOf[template]]) return;
  const linked = { application: spec.displayName, actionUrl: wanted.url };
  const userIds = [...new Set(news.map(({ userId }) => userId))];
  const addresses = await verifiedAddresses(tx, tenant, userIds);
  for (const one of news) {
    const address = addresses.get(one.userId);
    if (address === undefined) continue;
    const { email: to, language } = address;
    await sendMail(services, unit, { template, to, language, ...write(one, linked) });
  }
  const count = userIds.filter((id) => !addresses.has(id)).length;
  if (count > 0) services.observe({ kind: 'consent_mail_unaddressed', tenant, template, count });
}
