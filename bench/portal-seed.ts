/**
 * What the portal looks at in its benchmark: a tenant with a million relationships and a million entries of the ledger behind, with the
 * consents, decisions, events, mails and audit that go with them, written by SQL; another with many types and a large drawn policy;
 * and somebody who is logged in and a member of both.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { signUp } from '../server/accounts/index.ts';
import { apiOwner, type Writer } from '../server/core/ownership.ts';
import { portalTenant } from '../server/core/portal-tenant.ts';
import { putDefinition, putDocument, putVersion } from '../server/definitions/actions.ts';
import { acceptMemberInvitation, ensureLocalMember, inviteMember, mintPortalToken } from '../server/members/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { beginSession, ensurePortalTenant } from '../server/portal/index.ts';
import { type Installation, putTypes, through, userIdSql } from './installation.ts';

/** The members' writes, so that no manifest owns what the editor is to change. */
const writer: Writer = { owner: apiOwner, actor: 'bench' };
export const DEFINITION = 'terms';
/** A resource that every user is related to. */
export const HUB = { type: 'company', id: 'company-1' };

const rego = `package car.drive
default outcome := "deny"
outcome := "allow" if {
	some held in input.graph.subject
	held.type == "drives"
	held.to.id == input.resource.id
}
reason := "not a driver" if outcome == "deny"
`;

/** Types, a policy, and a definition of two versions that are in effect. */
export async function configure(installation: Installation, tenant: string): Promise<void> {
  const { services } = installation;
  await installation.tenant(tenant, { decisionLog: { mode: 'all' } });
  const related = await putTypes(installation, tenant, { actor: ['user'], resource: ['car', 'company', 'house'] });
  await related('user', 'works_at', 'company');
  await related('company', 'keeps', 'car');
  await related('user', 'owns', 'house');
  await related('user', 'drives', 'car', through('user:works_at:company', 'company:keeps:car'));
  await putPolicy(services.policies, writer, tenant, 'car:drive', { rego });
  await putDefinition(services.definitions, writer, tenant, DEFINITION, {});
  for (const version of ['1', '2']) {
    await putVersion(services.definitions, writer, tenant, { name: DEFINITION, version }, {});
    const key = { name: DEFINITION, version, language: 'en', document: version };
    const effectiveDate = new Date(Date.now() + 1000 * Number(version)).toISOString();
    await putDocument(services.definitions, writer, tenant, key, { effectiveDate });
  }
  await services.snapshots.refresh(tenant);
}

/** Types, a half of them related to the next, and a drawn policy of so many conditions, one after another. */
export async function configureWide(installation: Installation, tenant: string, boxes: number, cards: number) {
  const { services } = installation;
  await installation.tenant(tenant);
  const count = boxes / 2;
  const resources = Array.from({ length: count - 1 }, (_, i) => `thing_${i}`);
  const related = await putTypes(installation, tenant, { actor: ['user'], resource: resources });
  for (const [i, to] of resources.entries()) await related('user', `uses_${i}`, to);
  const ids = Array.from({ length: cards - 3 }, (_, i) => `card-${i}`);
  const nodes = ids.map((id, i) => ({
    ...{ id, type: 'condition' as const },
    conditions: [{ type: 'attribute' as const, path: 'subject.age', operator: 'gte' as const, value: i }],
  }));
  const edges = ids.flatMap((id, i) => [
    { from: id, on: 'true' as const, to: ids[i + 1] ?? 'allowed' },
    { from: id, on: 'false' as const, to: 'denied' },
  ]);
  const graph = {
    nodes: [
      { id: 'begin', type: 'start' as const },
      ...nodes,
      { id: 'allowed', type: 'outcome' as const, outcome: 'allow' as const },
      { id: 'denied', type: 'outcome' as const, outcome: 'deny' as const, reason: 'too young' },
    ],
    edges: [{ from: 'begin', to: 'card-0' }, ...edges],
  };
  await putPolicy(services.policies, writer, tenant, 'thing:use', { graph });
  await services.snapshots.refresh(tenant);
}

/** Somebody with an account, who is an administrator of the tenants. @returns the value of the session's cookie */
export async function logIn({ services, adminUrl }: Installation, tenants: readonly string[]): Promise<string> {
  await ensurePortalTenant(services);
  await services.snapshots.refresh(portalTenant);
  const email = 'ann@bench.example';
  const person = { email, invitedEmail: email, password: 'correct horse battery staple', displayName: 'Ann' };
  const signed = await signUp(services.accounts, portalTenant, person);
  if (signed.status !== 'created') throw new Error(signed.status);
  const { account } = signed;
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  for (const tenant of tenants) {
    const invited = await inviteMember(services.members, tenant, { email, role: 'security-admin' }, { actor: 'bench' });
    const token = new URL(invited.result.url).hash.slice(1);
    const membership = 'insert into accord.portal_membership (tenant, account, code) values ($1, $2, $3)';
    await admin.query(membership, [portalTenant, account.id, tenant]);
    await acceptMemberInvitation(services.members, token, account.id, randomBytes(8).toString('hex'));
  }
  await admin.end();
  return beginSession(services.accounts, portalTenant, account, Date.now());
}

/** A token of an administrator, as the portal's settings give it. */
export async function adminToken({ services }: Installation, tenant: string): Promise<string> {
  const member = await ensureLocalMember(services.members, tenant, 'security-admin');
  return (await mintPortalToken(services.members, tenant, member, 'bench')).token;
}

/** Instants of the last weeks, in milliseconds as the service writes them, the newest last; so that they lie in the partition of this month and of the one before. */
const ago = (n: string, count: number) =>
  `date_trunc('milliseconds', now() - interval '17 days' * (1 - (${n})::float8 / ${count}))`;
/** Of today: partitions of a day begin at midnight. */
const today = (n: string, count: number) =>
  `greatest(date_trunc('day', now()), now() - interval '30 minutes' * (1 - (${n})::float8 / ${count}))`;
const car = (n: string) => `'car-' || (${n})`;

/** @param rows of relationships, and as many of the ledger; of the rest about a third */
export function seedStatements(tenant: string, rows: number): { name: string; text: string }[] {
  const users = rows / 10;
  const agreed = (rows * 4) / 10;
  const third = Math.floor((rows * 3) / 10);
  const relationship = 'insert into accord.relationship (tenant, from_type, from_id, name, to_type, to_id, created_at)';
  const related = (name: string, to: string, count: number, id: string) =>
    `${relationship} select '${tenant}', 'user', ${userIdSql(`n % ${users}`)}, '${name}', '${to}', ${id}, ${ago('n', count)}
     from generate_series(0, ${count - 1}) n`;
  const ledger = `insert into accord.ledger_entry (tenant, time, id, sequence, type, name, version, document_version, document_language,
      outcome, request_id, client_id, personal_digest, salt, hash, actor_type, actor_id, user_id)
    select '${tenant}', ${ago('n', rows)}, uuidv7(), n, (array['registered', 'read', 'registered', 'invited', 'registered'])[1 + n % 5],
      '${DEFINITION}', (1 + n % 2)::text, (1 + n % 2)::text, 'en', 'given', md5(n::text), 'web', sha256(n::text::bytea),
      substr(sha256(n::text::bytea), 1, 16), sha256(n::text::bytea), 'user', ${userIdSql(`n % ${agreed}`)}, ${userIdSql(`n % ${agreed}`)}
    from generate_series(1, ${rows}) n`;
  const consent = (version: string, count: number) => `insert into accord.user_consent
      (tenant, user_id, definition, version, document, language, given_at)
    select '${tenant}', ${userIdSql('n')}, '${DEFINITION}', '${version}', '${version}', 'en', ${ago('n', count)}
    from generate_series(0, ${count - 1}) n`;
  const decision = `insert into accord.decision (tenant, at, caller, action, request, answer, policy_number, revision, duration_us, request_id)
    select '${tenant}', ${ago('n', third)}, 'client:web', 'car:drive',
      jsonb_build_object('action', 'car:drive', 'subject', jsonb_build_object('type', 'user', 'id', ${userIdSql(`n % ${users}`)}),
        'resource', jsonb_build_object('type', 'car', 'id', ${car(`n % ${users}`)})),
      case when n % 4 = 0 then '{"outcome": "deny", "reason": "not a driver"}'::jsonb else '{"outcome": "allow"}'::jsonb end,
      1, 1, 100, md5(n::text) from generate_series(1, ${third}) n`;
  return [
    { name: 'cars that are driven', text: related('drives', 'car', rows - 2 * users, car('n')) },
    { name: 'who works at one company', text: related('works_at', HUB.type, users, `'${HUB.id}'`) },
    { name: 'houses', text: related('owns', 'house', users, `'house-' || n`).replaceAll(`n % ${users}`, 'n % 1000') },
    {
      name: 'attributes',
      text: `insert into accord.entity (tenant, type, id, attributes)
        select '${tenant}', 'user', ${userIdSql('n')}, jsonb_build_object('name', 'Person ' || n) from generate_series(0, ${users - 1}) n`,
    },
    { name: 'ledger', text: ledger },
    { name: 'consents to version 1', text: consent('1', agreed) },
    { name: 'consents to version 2', text: consent('2', agreed / 2) },
    {
      name: 'invitations to consent',
      text: `insert into accord.consent_invitation (tenant, user_id, definition, version, invited_at, grace_ends)
        select '${tenant}', ${userIdSql('n')}, '${DEFINITION}', '1', now(), now() + interval '1 day' * (n % 60)
        from generate_series(${agreed / 2}, ${agreed / 2 + users - 1}) n`,
    },
    { name: 'decisions', text: decision },
    ...more(tenant, third),
  ];
}

function more(tenant: string, third: number): { name: string; text: string }[] {
  return [
    {
      name: 'events',
      text: `insert into accord.event (tenant, sequence, at, time, id, type, key, body)
        select '${tenant}', n, ${today('n', third)}, ${today('n', third)}, uuidv7(), 'DECISION', n::text, '{}'
        from generate_series(1, ${third}) n`,
    },
    {
      name: 'the number of the newest event',
      text: `insert into accord.event_counter (tenant, last, at) values ('${tenant}', ${third}, now())
        on conflict (tenant) do update set last = excluded.last, at = excluded.at`,
    },
    {
      name: 'events by hour',
      text: `insert into accord.event_count (tenant, hour, type, detail, count)
        select '${tenant}', date_trunc('hour', now()) - interval '1 hour' * h, 'DECISION', d, 1000 + h
        from generate_series(0, 400) h, unnest(array['allow', 'deny']) d`,
    },
    {
      name: 'deliveries',
      text: `insert into accord.delivery_attempt (tenant, subscription, sequence, number, at, ms, status, kind)
        select '${tenant}', 'crm', n, 1, ${today('n', third)}, 12, case when n % 50 = 0 then 500 else 200 end, 'l'
        from generate_series(1, ${third}) n`,
    },
    {
      name: 'audit',
      text: `insert into accord.audit_entry (tenant, at, actor, action, object_kind, object_name)
        select '${tenant}', ${ago('n', third)}, '"client:web"', 'create', 'relationship',
          'user/' || ${userIdSql('n % 1000')} || ' drives car/' || n from generate_series(1, ${third}) n`,
    },
    {
      name: 'invitations to share',
      text: `insert into accord.invitation (tenant, id, status, from_type, name, to_type, direction, target_type, target_id, invitor_type,
          invitor_id, by_tenant, contact_type, contact_digest, contact_mask, binding, delivery, delivered_at, token_id, max_uses, expires_at,
          created_at, ended_at)
        select '${tenant}', uuidv7(), case when n % 5 = 0 then 'pending' else 'accepted' end, 'user', 'drives', 'car', 'acceptor_to_target',
          'car', ${car('n')}, 'user', ${userIdSql('n')}, false, 'email', md5(n::text), 'p***@example.org', 'none', 'mail', now(), uuidv7(), 1,
          now() + interval '5 days', ${ago('n', third)}, case when n % 5 = 0 then null else now() end from generate_series(1, ${third}) n`,
    },
    {
      name: 'mails',
      text: `insert into accord.mail_message (tenant, id, template, transactional, recipient_digest, recipient_mask, status, next_at, created_at,
          expires_at, settled_at, kept_until)
        select '${tenant}', uuidv7(), 'relationship-invitation', true, md5(n::text), 'p***@example.org', 'sent', now(), ${ago('n', third)},
          now() + interval '30 days', now(), now() + interval '30 days' from generate_series(1, ${third}) n`,
    },
  ];
}

/** Writes all of it as the database's superuser, one statement after another, and analyzes. */
export async function seed({ adminUrl }: Installation, tenant: string, rows: number): Promise<void> {
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  for (const { name, text } of seedStatements(tenant, rows)) {
    const started = performance.now();
    await admin.query(text).catch((error: Error) => {
      throw new Error(`${name}: ${error.message}`);
    });
    console.log(`  ${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
  await admin.query('vacuum analyze');
  await admin.end();
}
