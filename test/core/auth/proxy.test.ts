/** Fetching through a real CONNECT proxy, and from an issuer whose certificate a private authority signed. */
import { createServer as createProxy } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createOutbound, type OutboundOptions } from '../../../server/core/outbound/outbound.ts';
import { selfSigned } from './certificate.ts';

const bounds = { tenant: 'demo', maxBytes: 1000, timeoutMs: 5000 };
const { key, cert } = selfSigned('idp.example');
const idp = createServer({ key, cert }, (_, response) => response.end('{"keys":[]}'));
const asked: string[] = [];
let refuses = false;
const proxy = createProxy().on('connect', (request, client) => {
  asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
  if (refuses) {
    client.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    return;
  }
  const server = connect(port, '127.0.0.1', () => {
    client.write('HTTP/1.1 200 OK\r\n\r\n');
    server.pipe(client).pipe(server);
  });
  server.on('error', () => client.destroy());
  client.on('error', () => server.destroy());
});
for (const server of [idp, proxy]) await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
const { port } = idp.address() as AddressInfo;
const proxyPort = (proxy.address() as AddressInfo).port;
const url = `http://127.0.0.1:${proxyPort}`;
afterAll(() => {
  idp.close();
  proxy.close();
});
beforeEach(() => {
  asked.length = 0;
  refuses = false;
});

const looked: string[] = [];
const resolve = async (name: string) => {
  looked.push(name);
  return [{ address: '127.0.0.1', family: 4 as const }];
};
const fetching = (options: Partial<OutboundOptions>, address = `https://idp.example:${port}/keys`) =>
  createOutbound({ allow: '', ownListeners: () => [], resolve, ...options }).fetchJson(address, bounds);

describe('an authority of ACCORD_CA_BUNDLE', () => {
  test('is trusted, beside which nothing else is', async () => {
    await expect(fetching({ allow: '127.0.0.0/8' })).rejects.toThrow('self-signed certificate');
    expect(await fetching({ allow: '127.0.0.0/8', ca: cert })).toEqual({ keys: [] });
    const other = selfSigned('idp.example').cert;
    await expect(fetching({ allow: '127.0.0.0/8', ca: other })).rejects.toThrow('self-signed certificate');
  });

  test('counts for its own names only', async () => {
    await expect(fetching({ allow: '127.0.0.0/8', ca: cert }, `https://other.example:${port}/keys`)).rejects.toThrow(
      'does not match',
    );
  });

  test.each(['', 'no PEM', '-----BEGIN CERTIFICATE-----\nxx\n-----END CERTIFICATE-----\n'])(
    'a bundle that holds none stops the start: %j',
    (ca) => {
      expect(() => createOutbound({ allow: '', ownListeners: () => [], ca })).toThrow('ACCORD_CA_BUNDLE');
    },
  );
});

describe('with ACCORD_HTTPS_PROXY', () => {
  test('a name goes to the proxy, which resolves it; it is not looked up here', async () => {
    looked.length = 0;
    expect(await fetching({ ca: cert, proxy: { url, except: '' } })).toEqual({ keys: [] });
    expect(asked).toEqual([`idp.example:${port}`]);
    expect(looked).toEqual([]);
  });

  test('the proxy gets the password that the URL has, and the issuer does not', async () => {
    const secret = url.replace('//', '//me:secret@');
    expect(await fetching({ ca: cert, proxy: { url: secret, except: '' } })).toEqual({ keys: [] });
    expect(asked).toEqual([`idp.example:${port} Basic ${Buffer.from('me:secret').toString('base64')}`]);
  });

  test("the issuer's certificate is still verified", async () => {
    await expect(fetching({ proxy: { url, except: '' } })).rejects.toThrow('self-signed certificate');
    await expect(
      fetching({ ca: cert, proxy: { url, except: '' } }, `https://other.example:${port}/keys`),
    ).rejects.toThrow('does not match');
  });

  test.each([
    'https://10.0.0.1',
    'https://169.254.169.254',
    'https://[fd00::1]',
    'https://127.1',
    'https://2130706433',
  ])('a literal address is judged as without it: %s', async (origin) => {
    await expect(fetching({ proxy: { url, except: '' } }, `${origin}/keys`)).rejects.toThrow('is not public');
    expect(asked).toEqual([]);
  });

  test.each([
    'localhost',
    'db',
    'vault.internal',
    'nas.local',
    'a.svc',
    'a.b.svc.cluster.local',
    'router.home.arpa',
    'A.LOCAL.',
  ])('a name of an internal network is refused: %s', async (name) => {
    await expect(fetching({ proxy: { url, except: '' } }, `https://${name}/keys`)).rejects.toThrow('internal network');
    expect(asked).toEqual([]);
  });

  test('its refusal is told', async () => {
    refuses = true;
    await expect(fetching({ ca: cert, proxy: { url, except: '' } })).rejects.toThrow('403');
  });

  test.each(['idp.example', 'example', '.example', '*.example', 'x.test, IDP.EXAMPLE', '*'])(
    'what ACCORD_NO_PROXY names goes directly, and is judged there: %s',
    async (except) => {
      await expect(fetching({ ca: cert, proxy: { url, except } })).rejects.toThrow('is not public');
      expect(await fetching({ ca: cert, allow: '127.0.0.0/8', proxy: { url, except } })).toEqual({ keys: [] });
      expect(asked).toEqual([]);
    },
  );

  test.each(['dp.example', 'other.example', 'idp.example.org', '127.0.0.0/8', ''])(
    'and what it does not name goes to the proxy: %s',
    async (except) => {
      expect(await fetching({ ca: cert, proxy: { url, except } })).toEqual({ keys: [] });
      expect(asked).toHaveLength(1);
    },
  );

  test('an address of ACCORD_NO_PROXY goes directly', async () => {
    const direct = { ca: cert, allow: '127.0.0.0/8', proxy: { url, except: '127.0.0.0/8' } };
    await expect(fetching(direct, `https://127.0.0.1:${port}/keys`)).rejects.toThrow('does not match');
    expect(asked).toEqual([]);
  });

  test('wrong settings stop the start', () => {
    const create = (settings: { url: string; except: string }) => () =>
      createOutbound({ allow: '', ownListeners: () => [], proxy: settings });
    expect(create({ url: 'socks5://a:1', except: '' })).toThrow('ACCORD_HTTPS_PROXY');
    expect(create({ url, except: 'a b' })).toThrow('a b in ACCORD_NO_PROXY');
    expect(create({ url, except: '10.0.0.0/33' })).toThrow('10.0.0.0/33 is not a CIDR range');
  });
});
