/** The events of the policies room. */
import { eventType } from '../room/events.ts';

export const policyUpdated = eventType<{ name: string; number: number }>('POLICY_UPDATED');
export const policyDeleted = eventType<{ name: string }>('POLICY_DELETED');
export const policyEvents = [policyUpdated, policyDeleted];
