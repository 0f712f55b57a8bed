/** What a person shares, has and agreed to, and ending it: by the same actions as the API, which policies, audit and ledger know. */
import { type ListedConsent, revokeConsent, showMine } from '../consents/index.ts';
import { limits } from '../core/limits.ts';
import { Problem } from '../core/problems.ts';
import { documentUrl } from '../definitions/index.ts';
import type { App } from '../http/fastify.ts';
import { displayNamesOf, endShared, listInvited, listOwn, listShared, revokeInvitation } from '../invitations/index.ts';
import type { ConfirmProps } from '../pages/index.ts';
import {
  type AccountPageServices,
  asked,
  backTo,
  contextOf,
  notFound,
  type OwnVisit,
  ownPage,
} from './account-visit.ts';

const INVITED = 'invitation:';
const SHARED = 'share:';

type Named = { typeKey: string; what: { type: string; id: string } };

/** What is shared and as what, in words of the page's language. */
function namesOf({ visit }: OwnVisit, named: Named) {
  const { relationshipType, type } = displayNamesOf(visit.tenant, named, visit.context.language);
  return { what: `${type} ${named.what.id}`, as: relationshipType };
}

/** What others have through the person, and the invitations that wait. */
export async function sharesOf({ invitations }: AccountPageServices, own: OwnVisit) {
  const context = contextOf(own);
  const [invited, shared] = await Promise.all([listInvited(invitations, context), listShared(invitations, context)]);
  return [
    ...invited.map(({ id, contact, since, expiresAt: until, canEnd, ...named }) => ({
      ...{ id: `${INVITED}${id}`, with: contact, ...namesOf(own, named), since, until, canEnd },
      isInvited: true,
    })),
    ...shared.rows.map((one) => ({
      ...{ id: `${SHARED}${one.id}`, with: one.contact ?? '', ...namesOf(own, one), canEnd: one.canEnd },
      since: one.since ?? '',
      ...(one.relationship.expiresAt === undefined ? {} : { until: one.relationship.expiresAt }),
    })),
  ];
}

/** undefined: the tenant does not let its users read them. */
export async function relationshipsOf({ invitations }: AccountPageServices, own: OwnVisit) {
  const found = await listOwn(invitations, contextOf(own));
  return found?.rows.map(({ id, relationship: { expiresAt }, canEnd, ...named }) => ({
    ...{ id, ...namesOf(own, named), canEnd },
    ...(expiresAt === undefined ? {} : { until: expiresAt }),
  }));
}

/** The newest consent of each definition: taking it back takes the older ones too. */
export async function consentsOf(services: AccountPageServices, own: OwnVisit) {
  const page = { limit: limits.accountItemsMax };
  const { rows } = await showMine(services.consents, contextOf(own), page);
  const newest = [...Map.groupBy(rows, ({ name }) => name).values()].map(([first]) => first as ListedConsent);
  return newest.map((one) => ({
    ...{ id: one.id, version: one.version, since: one.givenAt },
    ...textOf(services.baseUrl, own, one),
  }));
}

/** The title and the address of what was agreed to, where the document has a text. */
function textOf(
  baseUrl: string,
  { visit }: OwnVisit,
  { name, version, document }: ListedConsent,
): { name: string; textUrl?: string } {
  const found = visit.tenant.snapshot.definitions
    .get(name)
    ?.versions.find((one) => one.version === version)
    ?.documents.find((one) => one.version === document.version && one.language === document.language);
  if (found?.content === undefined) return { name };
  return { name: found.content.title, textUrl: documentUrl(baseUrl, visit.code, { name, version, document }) };
}

export function registerShares(app: App, services: AccountPageServices): void {
  ending(app, services, '/shares/end', async (own) => {
    const one = (await sharesOf(services, own)).find(({ id }) => id === own.fields.id) ?? notFound();
    const kind = one.id.startsWith(INVITED) ? 'invitation' : 'share';
    const end = () =>
      kind === 'invitation'
        ? revokeInvitation(services.invitations, contextOf(own), one.id.slice(INVITED.length))
        : endShared(services.invitations, contextOf(own), one.id.slice(SHARED.length));
    return { kind, id: one.id, subject: `${one.what} → ${one.with}`, end };
  });
  ending(app, services, '/relationships/end', async (own) => {
    const one = (await relationshipsOf(services, own))?.find(({ id }) => id === own.fields.id) ?? notFound();
    const end = () => endShared(services.invitations, contextOf(own), one.id);
    return { kind: 'relationship', id: one.id, subject: `${one.as} ${one.what}`, end };
  });
  ending(app, services, '/consents/end', async (own) => {
    const one = (await consentsOf(services, own)).find(({ id }) => id === own.fields.id) ?? notFound();
    const end = () => revokeConsent(services.consents, contextOf(own), one.id);
    return { kind: 'consent', id: one.id, subject: one.name, end };
  });
}

type Ending = Pick<ConfirmProps, 'kind' | 'id' | 'subject'> & { end: () => Promise<unknown> };

/** A form that ends something, after it was asked for. @param find of the person's own; it throws for what it has not */
function ending(app: App, services: AccountPageServices, path: string, find: (own: OwnVisit) => Promise<Ending>): void {
  ownPage(app, services, ['POST', path], async (own) => {
    const { end, ...what } = await find(own);
    const question = asked(own, { ...what, path });
    if (question !== undefined) return question;
    try {
      await end();
    } catch (error) {
      // Somebody else was faster.
      if (error instanceof Problem && [404, 409, 410].includes(error.status)) return backTo(own, 'gone');
      throw error;
    }
    return backTo(own, 'ended');
  });
}
