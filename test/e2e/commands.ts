/** The commands that pages show, and which of them no test runs here. */

/** Followed command by command, each on an `accord start` of its own. */
export const guides = ['share-a-car.md', 'patient-portal.md', 'sharing.md', 'members.md', 'backup.md'].map(
  (page) => `docs/${page}`,
);

const cluster = 'needs a cluster; test/kubernetes installs the chart and reads what the operator writes';
const postgres = 'needs the client programs of Postgres 18, and a Postgres with roles of its own';
const provider = 'needs an account at the provider';

/**
 * Blocks of `sh` that are not run by the tests of pages, and why: of each page, how the block begins. All others are run, in their
 * order, on one `accord start` of the examples.
 */
export const elsewhere: Record<string, Record<string, string>> = {
  'README.md': {
    'npm start': 'test/e2e/session.test.ts and test/e2e/start.test.ts start it, with ports and a folder of their own',
    'npm test': 'it is the suite itself',
    'helm install': cluster,
  },
  'docs/README.md': {
    'npm start': 'as in README.md',
    'npm test': 'as in README.md',
  },
  'docs/authorization-server.md': {
    'curl -s http://127.0.0.1:8080/carshare/oidc/token -d grant_type=authorization_code':
      'needs a log-in in a browser, which test/oidc walks',
    'curl -s http://127.0.0.1:8080/carshare/oidc/device/authorize':
      'needs a client with the grant of devices, which the examples have not; test/oidc has one',
  },
  'docs/client.md': { 'npm run build:client': 'writes into the clone; test/client builds it' },
  'docs/kubernetes.md': {
    'helm install': cluster,
    'kubectl apply': cluster,
    'kubectl get': cluster,
    'kubectl annotate': cluster,
    'kubectl -n try-me': cluster,
    'npm run test:kubernetes': 'is the suite of Kubernetes itself',
  },
  'docs/operations.md': {
    'kustomize build': 'needs kustomize; test/cli gives manifests by standard input',
    'docker compose': 'needs Docker; test/e2e/compose.test.ts runs what its services run',
  },
  'docs/backup.md': {
    pg_dumpall: postgres,
    psql: postgres,
    'accord doctor': 'as in docs/operations.md, on the restored database',
  },
  'docs/upgrading.md': {
    'helm upgrade': cluster,
    'helm rollback': cluster,
    'accord migrate': 'needs a Postgres with two roles; test/e2e/rolling.test.ts does this',
  },
  'docs/token-enrichment.md': {
    'mkdir -p META-INF': 'needs Keycloak; test/oidc runs the script itself',
    'curl -s https://YOUR-INSTANCE.zitadel.cloud/v2/actions/targets': provider,
    'curl -s -X PUT https://YOUR-INSTANCE.zitadel.cloud/v2/actions/executions': provider,
  },
  'docs/tokens.md': {
    'curl -s https://YOUR-TENANT.eu.auth0.com': provider,
    'curl -s https://login.clinic.example': provider,
    'curl -s https://YOUR-INSTANCE.zitadel.cloud': provider,
    'kubectl get': cluster,
    'kubectl create clusterrolebinding': cluster,
    'kubectl create serviceaccount': cluster,
  },
  'docs/tracing.md': { OTEL_EXPORTER_OTLP_ENDPOINT: 'needs a collector; the tests of tracing export to one' },
};

export type Block = { line: number; language: string; text: string };

/** All fenced blocks of a page, also those within lists. */
export function blocksOf(page: string): Block[] {
  return [...page.matchAll(/^( *)```([^\n`]*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: text = '' }) => ({
      line: page.slice(0, index).split('\n').length,
      language,
      text: indent === '' ? text : text.replace(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

/** Lines that Markdown shows as code without a fence, and with it without a language. */
export function unfencedOf(page: string): number[] {
  const prose = page.replace(/^( *)```[\s\S]*?^\1```$/gm, (block) => block.replace(/.+/g, '-'));
  return prose.split('\n').flatMap((line, i, lines) => (/^ {4}\S/.test(line) && lines[i - 1] === '' ? [i + 1] : []));
}

/** @returns the reason why a block is not run here; undefined when it is */
export const whyNot = (page: string, command: string): string | undefined =>
  Object.entries(elsewhere[page] ?? {}).find(([beginning]) => command.startsWith(beginning))?.[1];
