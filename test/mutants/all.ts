import type { Fault } from './fault.ts';
import { faults as accounts } from './faults/accounts.ts';
import { faults as authz } from './faults/authz.ts';
import { faults as consents } from './faults/consents.ts';
import { faults as erasure } from './faults/erasure.ts';
import { faults as events } from './faults/events.ts';
import { faults as facts } from './faults/facts.ts';
import { faults as invitations } from './faults/invitations.ts';
import { faults as ledger } from './faults/ledger.ts';
import { faults as mail } from './faults/mail.ts';
import { faults as members } from './faults/members.ts';
import { faults as oidc } from './faults/oidc.ts';
import { faults as rego } from './faults/rego.ts';
import { faults as tenants } from './faults/tenants.ts';
import { faults as tokens } from './faults/tokens.ts';

/** All faults, by the name of their part. */
export const allFaults: readonly Fault[] = [
  ...accounts,
  ...authz,
  ...consents,
  ...erasure,
  ...events,
  ...facts,
  ...invitations,
  ...ledger,
  ...mail,
  ...members,
  ...oidc,
  ...rego,
  ...tenants,
  ...tokens,
];
