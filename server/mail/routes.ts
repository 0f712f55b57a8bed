import type { Config } from '../core/config.ts';
import type { ConfigServing } from '../http/config-api.ts';
import type { App } from '../http/fastify.ts';
import { registerMessageRoutes } from './message-routes.ts';
import type { MessageServices } from './messages.ts';
import type { Outbox } from './outbox.ts';
import { registerPreviews } from './preview-routes.ts';
import { registerTemplateRoutes } from './template-routes.ts';
import { registerUnsubscribe } from './unsubscribe-routes.ts';

export type MailRouteServices = MessageServices & ConfigServing & { config: Config; outbox: Outbox };

export function registerMailRoutes(app: App, services: MailRouteServices): void {
  registerTemplateRoutes(app, services);
  registerPreviews(app, services);
  registerMessageRoutes(app, services);
  registerUnsubscribe(app, services);
}
