/** The events of the subscriptions room. Changes of subscriptions are CONFIGURATION_CHANGED. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

const subscription = {
  subscription: Type.String({ description: 'Id of the subscription.' }),
  endpoint: Type.String({ description: 'Its endpoint.' }),
  failingSince: Type.String({ format: 'date-time', description: 'Since when no request has succeeded.' }),
};
const example = {
  ...{ requestor: 'system', subscription: '0199f2f0-7f5e-7c3a-9a53-5f4b1e0c2d11' },
  ...{ endpoint: 'https://hooks.example/accord', failingSince: '2026-11-18T09:30:00.000Z' },
};
const keyOf = (data: { subscription: string }) => `event_subscription/${data.subscription}`;

export const subscriptionDisabled = eventType('SUBSCRIPTION_DISABLED', {
  when: 'No more events are sent to the endpoint of a subscription, until somebody changes it: the endpoint answered 410, or failed for five days.',
  operations: [],
  data: eventData({
    ...subscription,
    reason: Type.Union([Type.Literal('gone'), Type.Literal('failing')], {
      description: 'gone: the endpoint answered 410. failing: for five days no request succeeded.',
    }),
  }),
  example: { ...example, reason: 'failing' },
  keyOf,
});

export const subscriptionRecovered = eventType('SUBSCRIPTION_RECOVERED', {
  when: 'The endpoint of a subscription that failed answers as it should again.',
  operations: [],
  data: eventData(subscription),
  example,
  keyOf,
});

export const subscriptionEvents = [subscriptionDisabled, subscriptionRecovered];
