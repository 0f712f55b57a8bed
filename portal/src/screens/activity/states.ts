/** How the endpoint of a subscription does. */
import type { Texts } from './texts.en.ts';

export const stateTones = { active: 'ok', failing: 'warn', disabled: 'bad', paused: 'none' } as const;
export type DeliveryState = keyof typeof stateTones;

export const eventTypesText = (types: readonly string[], t: Texts) =>
  types.map((one) => (one === '*' ? t.allTypes : one)).join(', ');

export const formats = ['cloudevents', 'cloudevents-batch', 'legacy'];

/** What is typed with commas between. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean);
