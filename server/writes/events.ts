/** The event of every write of configuration. */
import { Type } from 'typebox';
import { eventData, eventType } from '../room/events.ts';

const C = '/tenants/{tenant}';
const version = `${C}/consent-definitions/{name}/versions/{version}`;

export const configurationChanged = eventType('CONFIGURATION_CHANGED', {
  when: 'Configuration of the tenant changed, by the Config API or by a manifest: one event for each object.',
  operations: [
    ...['PUT', 'DELETE'].flatMap((method) => [
      ...[`${method} ${C}/trusted-issuers/{name}`, `${method} ${C}/clients/{id}`],
      ...[`${method} ${C}/actor-types/{type}`, `${method} ${C}/resource-types/{type}`],
      ...[`${method} ${C}/relationship-types/{type}`, `${method} ${C}/policies/{policyName}`],
      `${method} ${C}/mail/templates/{name}/{language}`,
      `${method} ${C}/event-stream/subscriptions/{id}`,
      ...[`${method} ${C}/policy-libraries/{package}`, `${method} ${C}/policy-data/{path}`],
    ]),
    ...[`POST ${C}/event-stream/subscriptions`, `POST ${C}/event-stream/subscriptions/{id}/secret/rotate`],
    ...[`PUT ${C}/accounts/{id}`, `DELETE ${C}/accounts/{id}`],
    ...[`PUT ${C}/mail/settings`, `POST ${C}/keys/rotate`, `PUT ${C}/branding`],
    ...[`PUT ${C}/token-mapping`, `POST ${C}/clients/{id}/secrets`, `DELETE ${C}/clients/{id}/secrets/{secretId}`],
    ...['policies/{policyName}', 'policy-libraries/{package}', 'policy-data/{path}'].map(
      (path) => `POST ${C}/${path}/revisions/{number}/restore`,
    ),
    ...[`PUT ${C}/consent-definitions/{name}`, `PUT ${version}`, `PUT ${version}/end-of-life`],
    `PUT ${version}/documents/{language}/{documentVersion}`,
  ],
  data: eventData({
    kind: Type.String({ description: 'What kind of object changed, such as policy, relationship_type or tenant.' }),
    name: Type.String({ description: 'Name of the object.' }),
    action: Type.String({ description: 'What was done, such as put, delete, restore or transfer.' }),
    revision: Type.Integer({ description: 'Revision of the configuration that has the change (Accord-Revision).' }),
  }),
  example: {
    requestor: 'operator:shop/policies',
    ...{ kind: 'policy', name: 'car:read', action: 'put', revision: 17 },
  },
  keyOf: ({ kind, name }) => `${kind}/${name}`,
});
