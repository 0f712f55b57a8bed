/** Kubeconfig files: written for the test clusters' users, and read where the tests run on an existing cluster. */

export type KubeconfigUser = { certificate: string; key: string } | { token: string };
export type Connection = { url: string; authority?: string; user: KubeconfigUser };

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** @param authority the PEM of who signed the server's certificate. @returns the file's text, JSON being YAML too */
export function kubeconfigText(url: string, authority: string | undefined, user: KubeconfigUser): string {
  const ca = authority === undefined ? {} : { 'certificate-authority-data': base64(authority) };
  const own =
    'token' in user
      ? { token: user.token }
      : { 'client-certificate-data': base64(user.certificate), 'client-key-data': base64(user.key) };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, ...ca } }],
    users: [{ name: 'test', user: own }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

type Flattened = {
  clusters?: { cluster: { server: string; 'certificate-authority-data'?: string } }[];
  users?: { user: { token?: string; 'client-certificate-data'?: string; 'client-key-data'?: string } }[];
};

/**
 * @param text what `kubectl config view --raw --minify --flatten -o json` prints
 * @throws when the user has neither a certificate nor a token
 */
export function readConnection(text: string): Connection {
  const config = JSON.parse(text) as Flattened;
  const cluster = config.clusters?.[0]?.cluster;
  const user = config.users?.[0]?.user ?? {};
  if (cluster === undefined) throw new Error('the kubeconfig names no cluster in its current context');
  const decoded = (data: string) => Buffer.from(data, 'base64').toString();
  const authority = cluster['certificate-authority-data'];
  const rest = authority === undefined ? {} : { authority: decoded(authority) };
  if (user.token !== undefined) return { url: cluster.server, ...rest, user: { token: user.token } };
  const [certificate, key] = [user['client-certificate-data'], user['client-key-data']];
  if (certificate === undefined || key === undefined) {
    throw new Error('the kubeconfig must have a client certificate or a token; the tests run no credential plugin');
  }
  return { url: cluster.server, ...rest, user: { certificate: decoded(certificate), key: decoded(key) } };
}
