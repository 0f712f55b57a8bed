/** Reads an object of the tenant as a manifest. */
import type { TenantApi } from '../core/api.ts';
import type { Of, Stored } from './manifest.ts';

export const readManifest = async (api: TenantApi, of: Of, signal?: AbortSignal): Promise<Stored> =>
  (await api.get<Stored>('/resources/manifest', { query: of, ...(signal && { signal }) })).data;

/** What is stored, for "show as". */
export const storedYaml = (api: TenantApi, of: Of) => async (): Promise<string> => {
  const [{ manifest, comments }, { yamlOf }] = await Promise.all([readManifest(api, of), import('./yaml.ts')]);
  return yamlOf(manifest, comments);
};
