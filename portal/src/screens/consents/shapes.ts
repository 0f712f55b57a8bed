/** Reads a definition, and where its parts stand. */
import { useQuery } from '@tanstack/react-query';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import type { SeenVersion } from './seen.ts';
import type { Tree } from './tree.ts';

export type { DocumentConfig, EndOfLife, Tree } from './tree.ts';

export const pathOfDefinition = (name: string) => `/consent-definitions/${segment(name)}`;
export const pathOfVersion = (name: string, version: string) =>
  `${pathOfDefinition(name)}/versions/${segment(version)}`;
export const pathOfEnd = (name: string, version: string) => `${pathOfVersion(name, version)}/end-of-life`;
export const pathOfDocument = (
  name: string,
  version: string,
  { language, version: own }: { language: string; version: string },
) => `${pathOfVersion(name, version)}/documents/${segment(language)}/${segment(own)}`;

/** Where a definition stands in the portal. Two names are those of tabs. */
export const pageOfDefinition = (name: string) =>
  ['ledger', 'given', 'definitions'].includes(name) ? `/consents/definitions/${name}` : `/consents/${segment(name)}`;

export function useTree(name: string) {
  const { tenant, api } = useTenant();
  return useQuery({
    queryKey: ['consents', tenant.code, 'tree', name],
    queryFn: async ({ signal }) => (await api.get<Tree>(`${pathOfDefinition(name)}/tree`, { signal })).data,
    enabled: name !== '',
  });
}

export const versionsOf = ({ versions }: Tree): SeenVersion[] =>
  versions.map(({ config: { version, endOfLife }, documents }) => ({
    version,
    documents: documents.map(({ config }) => ({
      ...{ version: config.version, language: config.language },
      effectiveDate: Date.parse(config.effectiveDate),
    })),
    ...(endOfLife && {
      endOfLife: {
        ...{ startDate: Date.parse(endOfLife.startDate), endDate: Date.parse(endOfLife.endDate) },
        gracePeriod: endOfLife.gracePeriod,
      },
    }),
  }));

export const languagesOf = ({ versions }: Tree): string[] => [
  ...new Set(versions.flatMap(({ documents }) => documents.map(({ config }) => config.language))),
];
