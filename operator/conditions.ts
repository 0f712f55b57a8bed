/**
 * What a status says, pure: Accepted (valid, owned, stored), Programmed (every live server decides with it), Ready
 * (both). A condition keeps its time while its status stays, so that an unchanged state makes an equal status.
 */
import { bounds } from '../crds/index.ts';
import { asText } from '../server/core/text.ts';
import type { Condition, ConditionStatus, ResourceStatus } from './source.ts';

export type ConditionLine = {
  type: string;
  status: ConditionStatus;
  reason: string;
  message: string;
  /** A change of it is an event. */
  isEvent?: true;
};

/** What became of a manifest. */
export type Outcome = {
  generation: number;
  /** `ok` is undefined while it is not known and is tried again. */
  accepted: { ok: boolean | undefined; reason: string; message: string };
  /** The generation that is served, and the tenant's revision that holds it. */
  active?: { generation: number; revision: number };
  programmed: { status: ConditionStatus; reason: string; message: string };
  /** What the status of this kind says besides. */
  details?: Partial<ResourceStatus> | undefined;
  /** More that is to be said, such as a mass deletion that is held. */
  extra?: readonly ConditionLine[];
};

/** The message about a manifest of which no generation is served. */
export const nothingServed = 'No generation of it is served.';

/** @param now RFC 3339 */
export function statusOf(outcome: Outcome, previous: ResourceStatus, now: string): ResourceStatus {
  const { accepted, programmed, active, generation } = outcome;
  const acceptedStatus: ConditionStatus = accepted.ok === undefined ? 'Unknown' : accepted.ok ? 'True' : 'False';
  const ready = accepted.ok ? programmed : { ...accepted, status: acceptedStatus };
  const lines: Omit<Condition, 'observedGeneration' | 'lastTransitionTime'>[] = [
    { type: 'Accepted', status: acceptedStatus, reason: accepted.reason, message: accepted.message },
    { type: 'Programmed', ...programmed },
    { type: 'Ready', status: ready.status, reason: ready.reason, message: ready.message },
    ...(outcome.extra ?? []),
  ];
  return {
    observedGeneration: generation,
    ...(active ? { activeGeneration: active.generation, revision: String(active.revision) } : {}),
    ...outcome.details,
    conditions: lines.map((line) => ({
      type: line.type,
      status: line.status,
      reason: line.reason,
      message: cut(line.message),
      observedGeneration: generation,
      lastTransitionTime: timeOf(line, previous, now),
    })),
  };
}

export function conditionOf(status: ResourceStatus, type: string): Condition | undefined {
  return status.conditions?.find((condition) => condition.type === type);
}

export function isReady(status: ResourceStatus): boolean {
  return conditionOf(status, 'Ready')?.status === 'True';
}

/** The generation that is served and its revision, as the status recorded them. */
export function activeOf(status: ResourceStatus): { generation: number; revision: number } | undefined {
  if (status.activeGeneration === undefined || status.revision === undefined) return undefined;
  return { generation: status.activeGeneration, revision: Number(status.revision) };
}

function timeOf(line: { type: string; status: ConditionStatus }, previous: ResourceStatus, now: string): string {
  const before = conditionOf(previous, line.type);
  return before?.status === line.status ? before.lastTransitionTime : now;
}

/** No longer than a condition may be, and of characters that jsonb holds. */
function cut(message: string): string {
  const max = bounds.conditionMessageCharsMax;
  const text = asText(message);
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
