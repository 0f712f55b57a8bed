/** The keys and certificates of a test cluster, made by openssl: one authority, and what it signs. */
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const openssl = promisify(execFile);
const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export class Certificates {
  readonly folder: string;

  /** Makes the authority (ca.crt, ca.key) in the folder. */
  static async create(folder: string): Promise<Certificates> {
    const made = new Certificates(folder);
    await mkdir(folder, { mode: 0o700 });
    await writeFile(made.file('openssl.conf'), '[req]\ndistinguished_name = name\n[name]\n');
    await made.#make('ca', '/CN=accord test authority', ['-addext', 'basicConstraints=critical,CA:TRUE']);
    return made;
  }

  private constructor(folder: string) {
    this.folder = folder;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** A file's PEM. */
  read(name: string): string {
    return readFileSync(this.file(name), 'utf8');
  }

  /** The PEM of the certificate that all others are checked with. */
  authority(): string {
    return this.read('ca.crt');
  }

  /** A client's certificate, NAME.crt and NAME.key. @param subject as openssl writes it: /O=group/CN=user */
  client(name: string, subject: string): Promise<void> {
    return this.#signed(name, subject, ['-addext', 'extendedKeyUsage=clientAuth']);
  }

  /** A server's. @param names such as DNS:localhost and IP:127.0.0.1 */
  server(name: string, subject: string, names: readonly string[]): Promise<void> {
    const alternative = `subjectAltName=${names.join(',')}`;
    return this.#signed(name, subject, ['-addext', 'extendedKeyUsage=serverAuth', '-addext', alternative]);
  }

  /** A key pair without a certificate, NAME.key and NAME.pub: for the tokens of ServiceAccounts. */
  async pair(name: string): Promise<void> {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(this.file(`${name}.key`), pair.privateKey.export({ type: 'sec1', format: 'pem' }), { mode: 0o600 });
    await writeFile(this.file(`${name}.pub`), pair.publicKey.export({ type: 'spki', format: 'pem' }));
  }

  #signed(name: string, subject: string, extensions: readonly string[]): Promise<void> {
    return this.#make(name, subject, ['-CA', this.file('ca.crt'), '-CAkey', this.file('ca.key'), ...extensions]);
  }

  async #make(name: string, subject: string, rest: readonly string[]): Promise<void> {
    const to = ['-keyout', this.file(`${name}.key`), '-out', this.file(`${name}.crt`), '-subj', subject];
    await openssl('openssl', ['req', '-x509', '-config', this.file('openssl.conf'), ...key, ...to, ...rest]);
  }
}
