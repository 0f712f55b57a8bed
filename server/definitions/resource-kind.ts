/** The kind ConsentDefinition: its name in the API is a field of the spec; its status says what is active and locked now. */
import { bounds, type ConsentDefinitionManifest, definitionOf } from '../../crds/index.ts';
import { claimOf, type ResourceKind } from '../room/resource-kind.ts';
import type { DefinitionServices } from './actions.ts';
import { applyDefinition, archiveManifestDefinition, findDefinition, transferDefinition } from './apply.ts';
import { exportedDefinitions } from './exporting.ts';
import { definitionChecks } from './manifest-checks.ts';
import { definitionNames } from './store.ts';

const definitionKind: ResourceKind<DefinitionServices, ConsentDefinitionManifest> = {
  definition: definitionOf('ConsentDefinition'),
  order: 50,
  claims: (manifest) => claimOf(manifest, manifest.spec.name),
  find: (definitions, { tenant, name }) => findDefinition(definitions, tenant, name),
  put: (definitions, writer, { tenant }, manifest) => applyDefinition(definitions, writer, tenant, manifest.spec),
  transfer: (definitions, writer, { tenant, name }, to) => transferDefinition(definitions, writer, tenant, name, to),
  remove: (definitions, writer, { tenant, name }) => archiveManifestDefinition(definitions, writer, tenant, name),
  describe: async (definitions, { tenant, name }) => {
    const state = (await findDefinition(definitions, tenant, name))?.state;
    if (state === undefined) return undefined;
    const { active, sanitized, locked } = state;
    const shown = sanitized && { sanitized: sanitized.slice(0, bounds.consentSanitizedMax) };
    return { active: active.slice(0, bounds.consentActiveMax), ...shown, locked };
  },
  exported: exportedDefinitions,
  exportedNames: (tx, tenant) => definitionNames(tx, tenant),
  checks: definitionChecks,
};

export const resourceKinds = [definitionKind];
