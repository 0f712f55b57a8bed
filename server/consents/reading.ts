/** The verbs that read: what is active, what is outstanding, and what was given. Each is in the ledger before its answer. */
import { callerName } from '../core/auth/name.ts';
import { limits } from '../core/limits.ts';
import { problem } from '../core/problems.ts';
import {
  activeLanguages,
  type ConsentEvaluation,
  type Definition,
  definitionProblem,
  evaluateActive,
  evaluateConsent,
  languageFor,
  notActiveIn,
} from '../definitions/index.ts';
import { write } from '../writes/index.ts';
import { consentInvited, gracePeriodEnds } from './events.ts';
import { mailRenewals } from './mailed.ts';
import { consentProblem } from './problems.ts';
import {
  type ConsentServices,
  concerned,
  concernedUser,
  entryOf,
  type RequestContext,
  userOf,
} from './request-context.ts';
import { evaluationView, graceOf, isOutstanding, listedView, pastOf } from './rules.ts';
import type { ConsentRow, EvaluationView, GivenRow, ListedConsent, OutstandingView } from './schema.ts';
import { type ConsentFilter, insertInvitation, listConsents, lockUsers, readConsentHistory } from './store.ts';

/**
 * What concerns a user, or for a back end that names none what a new user is offered. A user's own GET is the first
 * invitation where one is due.
 * @param invites whether this request may invite: HEAD does not
 * @throws Problem forbidden, consent_definition_not_found, consent_not_active
 */
export async function readActive(
  services: ConsentServices,
  context: RequestContext,
  query: { name: string; language: string; userId?: string | undefined },
  invites: boolean,
): Promise<EvaluationView> {
  const { name } = query;
  const { tenant } = context;
  const userId = concerned(context, query.userId, '/query/userId');
  const definition = context.requestTenant.snapshot.definitions.get(name);
  if (definition === undefined) throw definitionProblem('consent_definition_not_found');
  if (userId === undefined) {
    const now = services.clock.now();
    const active = evaluateActive(definition, languageFor(definition, query.language, now), now);
    if (active === undefined) throw notActive(definition, query.language, now);
    await services.ledger.append(tenant, [entryOf(context, { ...aboutOf(name, active), type: 'read', time: now })]);
    return evaluationView(definition, active, { baseUrl: services.baseUrl, tenant });
  }
  const rows = await services.history.of(tenant, userId, name);
  const now = services.clock.now();
  const evaluated = evaluateConsent(definition, languageFor(definition, query.language, now), pastOf(rows), now);
  if (evaluated === undefined) throw notActive(definition, query.language, now);
  const isOwn = context.caller.kind === 'user' && invites;
  if (evaluated.invites !== undefined && isOwn) {
    const [invited] = await invite(services, context, userId, [definition], query.language, 'read');
    if (invited === undefined) throw notActive(definition, query.language, now);
    return evaluationView(definition, invited.evaluated, { baseUrl: services.baseUrl, tenant });
  }
  await services.ledger.append(tenant, [
    entryOf(context, { ...aboutOf(name, evaluated), userId, type: 'read', time: now }),
  ]);
  return evaluationView(definition, evaluated, { baseUrl: services.baseUrl, tenant });
}

function notActive(definition: Definition, language: string, now: number) {
  const detail = notActiveIn(definition, language, now);
  return consentProblem('consent_not_active', { detail, errors: [{ pointer: '/query/language', detail }] });
}

function aboutOf(name: string, { version, document, status }: ConsentEvaluation<string>) {
  return { name, version, document, outcome: status };
}

/**
 * All that still needs a user's answer, by name, and what does in other languages only.
 * @throws Problem forbidden, consent_definition_not_found
 */
export async function readOutstanding(
  services: ConsentServices,
  context: RequestContext,
  query: { names?: string | undefined; language: string; userId?: string | undefined },
  invites: boolean,
): Promise<OutstandingView> {
  const userId = concernedUser(context, query.userId, '/query/userId');
  const definitions = named(context.requestTenant.snapshot.definitions, query.names);
  const rows = Map.groupBy(await services.history.of(context.tenant, userId), (row) => row.definition);
  const now = services.clock.now();
  const evaluated = definitions.flatMap((definition) => {
    const language = languageFor(definition, query.language, now);
    const found = evaluateConsent(definition, language, pastOf(rows.get(definition.name) ?? []), now);
    return found && isOutstanding(found) ? [{ definition, evaluated: found }] : [];
  });
  const elsewhere = inOtherLanguages(definitions, query.language, rows, now);
  const due = evaluated.filter((one) => one.evaluated.invites !== undefined).map((one) => one.definition);
  if (due.length > 0 && invites && context.caller.kind === 'user') {
    const invited = await invite(services, context, userId, due, query.language, 'outstanding');
    const others = evaluated.filter((one) => one.evaluated.invites === undefined);
    const all = [...others, ...invited.filter((one) => isOutstanding(one.evaluated))];
    return { consents: views(services, context, all), ...elsewhere };
  }
  await services.ledger.append(context.tenant, [
    entryOf(context, { userId, type: 'read', time: now, outcome: 'outstanding' }),
  ]);
  return { consents: views(services, context, evaluated), ...elsewhere };
}

/** What has nothing active in the language, and needs the user's answer in another one. */
function inOtherLanguages(
  definitions: readonly Definition[],
  asked: string,
  rows: ReadonlyMap<string, GivenRow[]>,
  now: number,
): Pick<OutstandingView, 'inOtherLanguages'> {
  const found = definitions.flatMap((definition) => {
    const { name } = definition;
    const past = pastOf(rows.get(name) ?? []);
    const evaluatedIn = (language: string) => evaluateConsent(definition, language, past, now);
    if (evaluatedIn(languageFor(definition, asked, now)) !== undefined) return [];
    const all = activeLanguages(definition, now).filter((language) => {
      const evaluated = evaluatedIn(language);
      return evaluated !== undefined && isOutstanding(evaluated);
    });
    return all.length === 0 ? [] : [{ name, languages: all.slice(0, limits.consentLanguagesShownMax) }];
  });
  if (found.length === 0) return {};
  return { inOtherLanguages: found.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

type Evaluated = { definition: Definition; evaluated: ConsentEvaluation };

function views(
  { baseUrl }: ConsentServices,
  { tenant }: RequestContext,
  evaluated: readonly Evaluated[],
): EvaluationView[] {
  return evaluated
    .map((one) => evaluationView(one.definition, one.evaluated, { baseUrl, tenant }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param names separated by commas */
function named(definitions: ReadonlyMap<string, Definition>, names: string | undefined): Definition[] {
  if (names === undefined) return [...definitions.values()];
  return [...new Set(names.split(','))].map((name) => {
    const definition = definitions.get(name);
    if (definition !== undefined) return definition;
    const detail = `There is no consent definition ${JSON.stringify(name)}.`;
    throw definitionProblem('consent_definition_not_found', { detail, errors: [{ pointer: '/query/names', detail }] });
  });
}

/**
 * Writes a user's first invitations where they are due, with the entries of the ledger, and evaluates again.
 * @param asked the language that the user asks for
 * @param reading the read that this comes with
 */
async function invite(
  services: ConsentServices,
  context: RequestContext,
  userId: string,
  definitions: readonly Definition[],
  asked: string,
  reading: 'read' | 'outstanding',
): Promise<Evaluated[]> {
  const { tenant } = context;
  const { result } = await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    if (!(await lockUsers(tx, tenant, [userId]))) throw problem('tenant_not_found');
    const { now } = unit;
    const all = Map.groupBy(
      await readConsentHistory(tx, tenant, [{ n: 0, userId, name: null }]),
      (row) => row.definition,
    );
    const evaluated: Evaluated[] = [];
    const renewals: Parameters<typeof mailRenewals>[2][number][] = [];
    for (const definition of definitions) {
      const { name } = definition;
      const past = pastOf(all.get(name) ?? []);
      const language = languageFor(definition, asked, now);
      let found = evaluateConsent(definition, language, past, now);
      if (found?.invites !== undefined) {
        const version = found.invites;
        const graceEnds = graceOf(definition, version, { invitedAt: now, now });
        await insertInvitation(tx, tenant, { userId, name, version }, { at: unit.nowText, graceEnds });
        const requestor = callerName(context.caller);
        const ends = graceEnds === undefined ? undefined : gracePeriodEnds(graceEnds);
        unit.emit(consentInvited, { requestor, userId, name, version, ...ends });
        if (ends !== undefined) renewals.push({ userId, name, endsAt: ends.gracePeriodEnds });
        const invitations = new Map([...past.invitations, [version, now]]);
        found = evaluateConsent(definition, language, { ...past, invitations }, now);
        const outcome = found?.status ?? '';
        unit.appendToLedger([entryOf(context, { type: 'invited', time: now, userId, name, version, outcome })]);
      }
      if (found === undefined) continue;
      evaluated.push({ definition, evaluated: found });
      if (reading === 'read')
        unit.appendToLedger([entryOf(context, { ...aboutOf(name, found), userId, type: 'read', time: now })]);
    }
    await mailRenewals(services, unit, renewals);
    if (reading === 'outstanding') {
      unit.appendToLedger([entryOf(context, { userId, type: 'read', time: now, outcome: 'outstanding' })]);
    }
    return evaluated;
  });
  return result;
}

/** `before`: the id that the page before ended with. */
type Page = { limit: number; before?: string | undefined };
export type ConsentPage = { rows: ListedConsent[]; more: boolean };

/** A page of the caller's own consents, newest first. @throws Problem forbidden */
export function readMine(services: ConsentServices, context: RequestContext, page: Page): Promise<ConsentPage> {
  return list(services, context, { userId: ownId(context) }, page);
}

/** The same for a page that shows them among other things: where there are none, the ledger has no entry. @throws Problem forbidden */
export async function showMine(services: ConsentServices, context: RequestContext, page: Page): Promise<ConsentPage> {
  const found = await readMoreOfMine(services, context, page);
  if (found.rows.length > 0) await appendListed(services, context, { userId: ownId(context) });
  return found;
}

/** A further page of one request, which is in the ledger with its first. @throws Problem forbidden */
export function readMoreOfMine(services: ConsentServices, context: RequestContext, page: Page): Promise<ConsentPage> {
  return pageOf(services, context, { userId: ownId(context) }, page);
}

function ownId(context: RequestContext): string {
  const userId = userOf(context);
  if (userId === undefined)
    throw problem('forbidden', { detail: 'Only users can call this endpoint. Back ends read consents.' });
  return userId;
}

/** A page of the tenant's consents, newest first. */
export function readAll(
  services: ConsentServices,
  context: RequestContext,
  filter: ConsentFilter,
  page: Page,
): Promise<ConsentPage> {
  concerned(context, filter.userId, '/query/userId');
  return list(services, context, filter, page);
}

async function list(services: ConsentServices, context: RequestContext, filter: ConsentFilter, page: Page) {
  const found = await pageOf(services, context, filter, page);
  await appendListed(services, context, filter);
  return found;
}

function appendListed({ clock, ledger }: ConsentServices, context: RequestContext, filter: ConsentFilter) {
  const entry = entryOf(context, { ...filter, type: 'read', time: clock.now(), outcome: 'listed' });
  return ledger.append(context.tenant, [entry]);
}

async function pageOf(
  services: ConsentServices,
  { tenant, requestTenant }: RequestContext,
  filter: ConsentFilter,
  { limit, before }: Page,
): Promise<ConsentPage> {
  const { definitions } = requestTenant.snapshot;
  const rows: ConsentRow[] = await services.database.tenantSnapshot(tenant, (tx) =>
    listConsents(tx, tenant, filter, { before, limit: limit + 1 }),
  );
  const now = services.clock.now();
  const listed = rows.slice(0, limit).map((row) => listedView(definitions.get(row.definition), row, now));
  return { rows: listed, more: rows.length > limit };
}
