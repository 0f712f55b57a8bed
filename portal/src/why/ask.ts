/** Asks a policy with what is stored now, as a decision about it reads it. */
import { segment, type TenantApi } from '../core/api.ts';
import type { Answer, Explanation } from './schema.ts';

type Entity = { type?: string; id?: string };
type Question = { subject: Entity; resource: Entity; context?: Record<string, unknown> };

/** @param draft asked in place of the policy that is stored */
export async function askStored(
  api: TenantApi,
  policy: string,
  request: Question,
  { draft = {}, signal }: { draft?: Record<string, unknown>; signal?: AbortSignal } = {},
): Promise<Answer & { explain: Explanation }> {
  const options = { body: { ...draft, request }, ...(signal && { signal }) };
  return (await api.post<Answer & { explain: Explanation }>(`/policies/${segment(policy)}/test`, options)).data;
}
