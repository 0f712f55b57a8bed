/** C/overview, and C/limits. */
import { Type } from 'typebox';
import { roles } from '../core/auth/schema.ts';
import type { Clock } from '../core/clock.ts';
import { limits } from '../core/limits.ts';
import { type App, memberOf, TenantParams, tenantOf } from '../http/fastify.ts';
import { readOverview } from './actions.ts';
import { type LimitsServices, registerLimitsRoute } from './limits-route.ts';
import { OverviewView } from './schema.ts';

const HOURS = 24;

export function registerOverviewRoutes(app: App, services: LimitsServices & { clock: Clock }): void {
  registerLimitsRoute(app, services);
  app.route({
    method: 'GET',
    url: '/tenants/:tenant/overview',
    config: { access: { api: 'config', roles } },
    schema: {
      summary: 'What happens in the tenant, hour by hour, and what needs somebody',
      description: `Events are counted when they are numbered, decisions where they are logged. Reasons of denials are those of the newest ${limits.overviewRecordsMax} decisions of the log, which support does not see. A config-viewer sees what needs somebody in the configuration.`,
      params: TenantParams,
      querystring: Type.Object(
        {
          hours: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: limits.overviewHoursMax,
              description: `The current hour and those before it. Default: ${HOURS}.`,
            }),
          ),
        },
        { additionalProperties: false },
      ),
      response: { 200: OverviewView },
    },
    handler: (request) => {
      const { tenant } = request.params;
      const { hours = HOURS } = request.query;
      const decisionLog = tenantOf(request).snapshot.spec.decisionLog?.mode ?? 'off';
      return readOverview(services, { tenant, role: memberOf(request).role, hours, decisionLog });
    },
  });
}
