/** Subscriptions as their manifests say them, with every default filled in. */
import { apiVersion, checkManifest, type EventSubscriptionSpec } from '../../crds/index.ts';

/** One that takes every event, unless it is said otherwise. @throws Error saying what the rules refuse */
export function subscriptionSpec(more: Record<string, unknown> = {}): EventSubscriptionSpec {
  const spec = {
    tenantRef: { name: 'demo' },
    endpoint: 'https://hooks.example/accord',
    eventTypes: ['*'],
    generateSecret: { name: 'hooks-signing' },
    ...more,
  };
  const checked = checkManifest({
    ...{ apiVersion, kind: 'EventSubscription', spec },
    metadata: { name: 'hooks', namespace: 'demo' },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return checked.manifest.spec as EventSubscriptionSpec;
}

/** What is wrong with the subscription, by place. */
export function refusals(more: Record<string, unknown>): Record<string, string> {
  try {
    subscriptionSpec(more);
    return {};
  } catch (error) {
    const places = JSON.parse((error as Error).message) as { pointer: string; detail: string }[];
    return Object.fromEntries(places.map(({ pointer, detail }) => [pointer, detail]));
  }
}
