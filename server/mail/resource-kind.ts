/** The kind MailTemplate: its name in the API is NAME/LANGUAGE. */
import { definitionOf, type MailTemplateManifest } from '../../crds/index.ts';
import { refusalBy } from '../room/manifest-checks.ts';
import { claimOf, type ResourceClaim, type ResourceKind } from '../room/resource-kind.ts';
import type { ConfigWriteServices } from '../writes/index.ts';
import { checkTemplate, deleteTemplate, putTemplate, transferTemplate } from './template-actions.ts';
import { loadTemplateSources, readTemplate, type TemplateSpec, templateNames } from './template-store.ts';

const keyOf = ({ name }: ResourceClaim) => {
  const [mail = '', language = ''] = name.split('/', 2);
  return { name: mail, language };
};

const specOf = ({ subject, html, text }: MailTemplateManifest['spec']): TemplateSpec => ({
  subject,
  ...(html === undefined ? {} : { html }),
  ...(text === undefined ? {} : { text }),
});

const templateKind: ResourceKind<ConfigWriteServices, MailTemplateManifest> = {
  definition: definitionOf('MailTemplate'),
  order: 80,
  hasPathNames: true,
  claims(manifest) {
    const { name, language } = manifest.spec;
    const isLegible = [name, language].every((one) => typeof one === 'string' && one !== '');
    return isLegible ? claimOf(manifest, `${name}/${language}`) : undefined;
  },
  find: ({ database }, claim) => database.read(claim.tenant, (tx) => readTemplate(tx, claim.tenant, keyOf(claim))),
  put: (services, writer, claim, { spec }) =>
    putTemplate(services, writer, claim.tenant, { ...keyOf(claim), spec: specOf(spec) }),
  transfer: (services, writer, claim, to) => transferTemplate(services, writer, claim.tenant, keyOf(claim), to),
  remove: (services, writer, claim) => deleteTemplate(services, writer, claim.tenant, keyOf(claim)),
  async exported(tx, { tenant, only }) {
    const rows = await loadTemplateSources(tx, tenant, only);
    return rows.map(({ name, language, spec, owner }) => ({
      ...{ name: `${name}/${language}`, owner },
      spec: { tenantRef: { name: tenant }, name, language, ...spec },
    }));
  },
  exportedNames: templateNames,
  checks: {
    acceptance: ({ spec }) => refusalBy(() => checkTemplate(spec, specOf(spec))),
  },
};

export const resourceKinds = [templateKind];
