/** What the library would print becomes observations. Nothing of persons is in them. */
import type { Provider } from 'oidc-provider';
import type { Observe } from '../core/observe.ts';

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** A request to an authorization server was refused. */
    oidc_refused: { tenant: string; event: string; error: string; detail: string; client?: string };
    /** A client was not told that a session ended. */
    backchannel_logout_failed: { tenant: string; client: string; error: unknown };
  }
}

const refusals = [
  'authorization.error',
  'grant.error',
  'introspection.error',
  'revocation.error',
  'userinfo.error',
  'pushed_authorization_request.error',
  'device_authorization.error',
  'code_verification.error',
  'device_resume.error',
  'end_session.error',
  'end_session_confirm.error',
  'end_session_success.error',
  'discovery.error',
  'jwks.error',
] as const;

type Context = {
  method?: string;
  path?: string;
  response?: { get(header: string): string };
  oidc?: { client?: { clientId: string } };
};
type ProviderError = Error & { error_description?: string; error_detail?: string };
type Emitter = { on(event: string, listener: (...args: never[]) => void): unknown };

export function observed(provider: Provider, observe: Observe, tenant: string): void {
  const emitter = provider as unknown as Emitter;
  for (const event of refusals) {
    emitter.on(event, (ctx: Context, error: ProviderError) => {
      const client = ctx.oidc?.client?.clientId;
      const detail = error.error_detail ?? error.error_description ?? '';
      observe({ kind: 'oidc_refused', tenant, event, error: error.message, detail, ...(client ? { client } : {}) });
    });
  }
  const failed = (error: Error, ctx: Context | undefined) => {
    const requestId = ctx?.response?.get('x-request-id') ?? '';
    observe({ kind: 'request_failed', requestId, route: `${ctx?.method} /${tenant}/oidc${ctx?.path}`, error });
  };
  emitter.on('server_error', (ctx: Context, error: Error) => failed(error, ctx));
  // Of Koa, which writes to standard error where nobody listens.
  emitter.on('error', failed);
  emitter.on('backchannel.error', (_ctx: Context, error: Error, { clientId }: { clientId: string }) =>
    observe({ kind: 'backchannel_logout_failed', tenant, client: clientId, error }),
  );
}
