// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of sources, with the templates that they have.
/** Statements that take some rows of many without an order that is total, each with the reason why that cannot be seen. */

/** `line`: a part of the line; absent: all of the file. */
type Exception = { file: string; line?: string; why: string };

const portion = 'It is repeated until none of them is left: any serve.';
const queue =
  'It takes what is due, and the next turn takes the rest: any serve. An index has no more than the instant.';
const count = 'It counts up to a bound, whichever rows these are.';
const refusing = 'It reads one more than a bound, past which what was read is not used.';

const each = (why: string, lines: Record<string, string[]>): Exception[] =>
  Object.entries(lines).flatMap(([file, list]) => list.map((line) => ({ file, line, why })));
const whole = (why: string, ...list: string[]): Exception[] => list.map((file) => ({ file, why }));

export const exceptions: readonly Exception[] = [
  ...each(portion, {
    'server/consents/tenant-store.ts': ['select ctid from accord.user_consent'],
    'server/events/store.ts': [
      'select n from accord.event_inbox where tenant',
      'select sequence from accord.event where tenant = ${tenant} limit',
    ],
    'server/idempotency/store.ts': ['select id from accord.idempotency_key where tenant'],
    'server/invitations/store.ts': [
      '${those} limit ${most}',
      'select invitation from accord.invitation_use',
      'ended_by = ${name} limit ${most}',
      'max_uses > 1 limit ${most}',
    ],
    'server/ledger/store.ts': ['${those} limit ${most}'],
    'server/ledger/tenant-store.ts': ['from accord.ledger_inbox where', 'from accord.ledger_entry where'],
    'server/mail/store.ts': ['    limit ${limits.erasePageItemsMax}'],
    'server/oidc/store.ts': ['account = ${account} limit ${limit}'],
    'server/relationships/store.ts': ['${isOfType} limit ${limit}'],
    'server/relationships/tenant-store.ts': ['select ctid from accord.relationship'],
    'server/subscriptions/delivery-store.ts': ['from accord.delivery_attempt where tenant = ${tenant} limit'],
  }),
  ...each(queue, {
    'server/invitations/store.ts': ['order by expires_at limit ${literal(limit)} for update skip locked'],
    'server/portal/store.ts': ['order by expires_at limit 100 for update skip locked'],
  }),
  ...whole(
    queue,
    'server/consents/timed-store.ts',
    'server/core/db/due.ts',
    'server/definitions/timed-store.ts',
    'server/invitations/expiring-store.ts',
    'server/relationships/expiring-store.ts',
  ),
  ...each(
    'Only whether there is one, or which tenants have one, is used; where the bound cuts them, each lane is looked at.',
    {
      'server/mail/store.ts': [
        'order by next_at limit 1',
        'order by next_at limit ${literal(limits.dueRowsLookedAtMax)}',
      ],
    },
  ),
  ...each('Only whether there is one is used.', { 'server/types/store.ts': ['${holds} limit 1'] }),
  ...each(count, {
    'server/core/db/lanes.ts': ['where ${isFree} limit ${limit}'],
    'server/relationships/store.ts': ['${unexpired(now)} limit ${most}'],
  }),
  ...each(refusing, {
    'server/consents/store.ts': ['c.user_id = q.user_id limit ${most}'],
  }),
  ...whole(refusing, 'server/relationships/graph-store.ts', 'server/relationships/search-store.ts'),
  {
    file: 'server/core/db/lanes.ts',
    line: 'order by l.owned_until nulls first, l.${lane}',
    why: 'The column that the table names is the key of the lanes of a tenant.',
  },
  {
    file: 'server/idempotency/store.ts',
    line: 'created_at > ${since} limit ${most}',
    why: 'A caller has hardly more than the bound, past which a request is refused.',
  },
  {
    file: 'server/issuers/store.ts',
    line: 'order by random()',
    why: 'Servers share the work by taking different ones.',
  },
  {
    file: 'server/keys/store.ts',
    line: "purpose = 'access' and retires_at is null limit 1",
    why: 'The master key is tried on any key.',
  },
  {
    file: 'server/overview/store.ts',
    line: 'order by grace_ends limit ${looked}',
    why: 'A grace may end for a million users at one instant, all of whom a total order would sort; which of them are counted does not matter.',
  },
  {
    file: 'server/overview/store.ts',
    line: 'order by expires_at limit ${looked}',
    why: 'Invitations may end at one instant, too, as those that were made together do.',
  },
  {
    file: 'server/overview/store.ts',
    line: 'order by at desc limit ${looked}',
    why: 'They are counted by the hour, and an index has no more than the instant.',
  },
  {
    file: 'server/relationships/store.ts',
    line: 'over (partition by from_type, name, to_type, to_id order by line)',
    why: 'The numbers of the lines of a request are unique.',
  },
];
