/** What the chart says to values that it cannot take, and that its documentation of them is complete. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chart, databases, find, hasHelm, render, type Values } from './helm.ts';
import { documentation } from './values-page.ts';

const refusal = async (values: Values): Promise<string> =>
  render(values).then(
    () => 'accepted',
    (error: { stderr: string }) => error.stderr,
  );

describe.skipIf(!hasHelm)('the values', () => {
  describe('the schema', () => {
    type Node = { type?: string; additionalProperties?: unknown; properties?: Record<string, Node>; items?: Node };
    const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Node;
    const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Values;

    const unlike = (node: Node, value: unknown, path: string): string[] => {
      if (node.properties === undefined) return [];
      if (node.additionalProperties !== false) return [`${path} takes unknown fields`];
      const fields = Object.keys(node.properties).filter((name) => name !== 'global');
      const given = Object.keys((value ?? {}) as object);
      const here = [
        ...fields.filter((name) => !given.includes(name)),
        ...given.filter((name) => !fields.includes(name)),
      ];
      const below = fields.flatMap((name) =>
        unlike(node.properties?.[name] as Node, (value as Values)?.[name], `${path}/${name}`),
      );
      return [...here.map((name) => `${path}/${name}`).filter((one) => !/resources\/claims$/.test(one)), ...below];
    };
    test('names what values.yaml has, no less and no more', () => {
      expect(unlike(schema, values, '')).toEqual([]);
    });

    test.each<[string, Values, RegExp]>([
      ['a misspelt name', { server: { replica: 3 } }, /at '\/server': additional properties 'replica' not allowed/],
      ['one at the top', { replicas: 3 }, /additional properties 'replicas' not allowed/],
      ['one far down', { monitoring: { serviceMonitor: { enable: true } } }, /'enable' not allowed/],
      ['text for a number', { server: { replicas: 'two' } }, /at '\/server\/replicas': got string, want integer/],
      ['a number out of bounds', { server: { databasePool: 1 } }, /\/server\/databasePool': minimum: got 1, want 2/],
      [
        'no such level',
        { config: { logLevel: 'verbose' } },
        /\/config\/logLevel': value must be one of 'debug', 'info'/,
      ],
      ['no address', { baseUrl: 'accord.example' }, /at '\/baseUrl': 'accord.example' does not match pattern/],
      ['a range that is none', { config: { outboundAllow: ['10.0.0.1'] } }, /\/config\/outboundAllow\/0'/],
      [
        'a boolean label',
        { server: { podLabels: { on: true } } },
        /\/server\/podLabels\/on': got boolean, want string/,
      ],
      ['no namespace', { tenantNamespaces: ['Car'] }, /at '\/tenantNamespaces\/0'/],
      ['no digest', { image: { digest: 'sha256:1' } }, /at '\/image\/digest'/],
    ])('refuses %s', async (_, wrong, message) => {
      expect(await refusal({ ...databases.own, ...wrong })).toMatch(message);
    });
  });

  describe('a choice that must be made', () => {
    test('no database', async () => {
      expect(await refusal({})).toMatch(/Accord needs one database, and none is chosen\. Set one of:/);
    });
    test('two databases', async () => {
      const both = { ...databases.own, ...databases.external };
      expect(await refusal(both)).toMatch(/and database\.existingSecret and postgresql\.enabled are chosen/);
    });
    test('an Ingress without a host, a route without a gateway', async () => {
      const trusted = { ...databases.own, config: { trustProxy: ['10.244.0.0/16'] } };
      expect(await refusal({ ...trusted, ingress: { enabled: true } })).toMatch(
        /ingress\.enabled needs ingress\.hosts/,
      );
      expect(await refusal({ ...trusted, gateway: { enabled: true } })).toMatch(
        /gateway\.enabled needs gateway\.parentRefs/,
      );
    });
    test('a proxy that nobody trusts: every caller would have its address', async () => {
      const ingress = { ingress: { enabled: true, hosts: ['a.example'] } };
      const gateway = { gateway: { enabled: true, parentRefs: [{ name: 'public' }] } };
      for (const values of [ingress, gateway]) {
        expect(await refusal({ ...databases.own, ...values })).toMatch(/need config\.trustProxy: the CIDR ranges/);
      }
    });
    test('a mail server without a sender', async () => {
      const mail = { existingSecret: 'our-mail' };
      expect(await refusal({ ...databases.own, mail })).toMatch(/need mail\.from: the sender of the mail/);
    });
    test('no ServiceAccount', async () => {
      const none = { server: { serviceAccount: { create: false } } };
      expect(await refusal({ ...databases.own, ...none })).toMatch(/\/server\/serviceAccount/);
    });
  });

  describe('secrets', () => {
    test('a master key is made as `accord` reads it, and is immutable and kept', async () => {
      const keys = await Promise.all([render(databases.external), render(databases.external)]);
      const [one, other] = keys.map((resources) => find(resources, 'Secret', 'accord-master-key'));
      const key = Buffer.from(one.data['master-key'], 'base64').toString();
      expect(Buffer.from(key, 'base64url')).toHaveLength(32);
      expect(key).toMatch(/^[A-Za-z0-9_-]{43}$/);
      expect(one.data).not.toEqual(other.data);
      expect([one.immutable, one.metadata.annotations]).toEqual([true, { 'helm.sh/resource-policy': 'keep' }]);
    });

    test('with Secrets of your own, the chart makes none', async () => {
      const values = { ...databases.external, masterKey: { existingSecret: 'our-key', key: 'k' } };
      const resources = await render(values);
      expect(resources.map(({ kind }) => kind)).not.toContain('Secret');
      const { env } = find(resources, 'Deployment', 'accord-server').spec.template.spec.containers[0];
      const from = (name: string) => env.find((one: { name: string }) => one.name === name).valueFrom.secretKeyRef;
      expect(from('ACCORD_MASTER_KEY')).toEqual({ name: 'our-key', key: 'k' });
      expect(from('ACCORD_DATABASE_URL')).toEqual({ name: 'our-postgres', key: 'database-url' });
    });

    test('the authority of your own database is mounted where its URL may name it', async () => {
      const resources = await render({
        database: { existingSecret: 'our-postgres', caSecret: 'our-ca', caKey: 'root.pem' },
      });
      const { volumes, containers } = find(resources, 'Deployment', 'accord-server').spec.template.spec;
      expect(volumes.at(-1).secret).toEqual({ secretName: 'our-ca', items: [{ key: 'root.pem', path: 'ca.crt' }] });
      expect(containers[0].volumeMounts.at(-1).mountPath).toBe('/etc/accord/database-ca');
    });

    test('a CloudNativePG Cluster makes its roles by our statements, and is reached with its authority', async () => {
      const resources = await render(databases.cloudNativePg);
      const { spec } = find(resources, 'Cluster', 'accord-db');
      expect(spec).not.toHaveProperty('managed');
      expect(spec.bootstrap.initdb).toMatchObject({
        owner: 'accord_owner',
        secret: { name: 'accord-db-owner' },
        postInitApplicationSQLRefs: { secretRefs: [{ name: 'accord-db', key: 'roles.sql' }] },
      });
      const made = find(resources, 'Secret', 'accord-db').stringData;
      expect(find(resources, 'Secret', 'accord-db-owner').stringData).toEqual({
        username: 'accord_owner',
        password: made['owner-password'],
      });
      const { containers, volumes } = find(resources, 'Deployment', 'accord-server').spec.template.spec;
      const url = containers[0].env.find(({ name }: { name: string }) => name === 'ACCORD_DATABASE_URL').value;
      expect(url).toMatch(
        /@accord-db-rw\.accord-system\.svc:5432\/accord\?sslmode=verify-full&sslrootcert=\/etc\/accord\//,
      );
      expect(volumes.at(-1).secret).toEqual({ secretName: 'accord-db-ca', items: [{ key: 'ca.crt', path: 'ca.crt' }] });
    });
  });

  test('VALUES.md says what values.yaml and the schema do (to write it: --update)', async () => {
    await expect(documentation()).toMatchFileSnapshot(join(chart, 'VALUES.md'));
  });
});
