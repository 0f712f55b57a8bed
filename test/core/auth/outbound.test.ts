import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { limits } from '../../../server/core/limits.ts';
import { createOutbound, type OutboundOptions } from '../../../server/core/outbound/outbound.ts';
import { selfSigned } from './certificate.ts';
import { startIdentityProvider } from './identity-provider.ts';

const bounds = { tenant: 'demo', maxBytes: 1000, timeoutMs: 5000 };
const server = await startIdentityProvider();
const port = server.port;

function outbound(options: Partial<OutboundOptions> = {}) {
  return createOutbound({ allow: '127.0.0.0/8', ownListeners: () => [], ...options });
}

afterEach(() => {
  server.answer = undefined;
  server.requests.length = 0;
});

describe('any request', () => {
  test('has its method, headers and body, and the answer is told whatever its status', async () => {
    let received: { method: string | undefined; type: string | undefined; body: string } | undefined;
    server.answer = (request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        received = { method: request.method, type: request.headers['content-type'], body };
        response.writeHead(409, { 'x-why': 'because' }).end('no');
      });
    };
    const headers = { 'content-type': 'text/plain' };
    const answer = await outbound().send(server.jwksUri, { method: 'POST', headers, body: 'hello' }, bounds);
    expect(received).toEqual({ method: 'POST', type: 'text/plain', body: 'hello' });
    expect(answer).toMatchObject({ status: 409, headers: { 'x-why': 'because' }, body: Buffer.from('no') });
  });

  test('is guarded as a fetch is, and its answer bounded whatever its status', async () => {
    const refused = outbound({ allow: '' }).send(`https://10.0.0.1:${port}/`, { method: 'POST' }, bounds);
    await expect(refused).rejects.toThrow('is not public');
    server.answer = (_request, response) => response.writeHead(500).end('x'.repeat(bounds.maxBytes + 1));
    await expect(outbound().send(server.jwksUri, {}, bounds)).rejects.toThrow('longer than 1000 bytes');
  });
});

test('JSON is asked for by each of its types: an API server of Kubernetes refuses who does not accept key sets', async () => {
  server.answer = (request, response) => {
    const accepted = request.headers.accept?.split(', ') ?? [];
    response.writeHead(accepted.includes('application/jwk-set+json') ? 200 : 406).end('{"keys": []}');
  };
  expect(await outbound().fetchJson(server.jwksUri, bounds)).toEqual({ keys: [] });
  server.answer = (request, response) => {
    const accepted = request.headers.accept?.split(', ') ?? [];
    response.writeHead(accepted.includes('application/json') ? 200 : 406).end('{"keys": []}');
  };
  expect(await outbound().fetchJson(server.jwksUri, bounds)).toEqual({ keys: [] });
});

describe('addresses', () => {
  test('an allowed address is reached', async () => {
    const document = await outbound().fetchJson(server.jwksUri, bounds);
    expect(document).toEqual({ keys: [] });
    expect(server.requests).toEqual(['/keys']);
  });

  test.each([
    'http://127.0.0.1',
    'http://2130706433',
    'http://0x7f000001',
    'http://0x7f.1',
    'http://0177.0.0.1',
    'http://127.1',
    'http://[::ffff:127.0.0.1]',
    'http://[::ffff:7f00:1]',
    'https://10.0.0.1',
    'https://167772161',
    'https://169.254.169.254',
    'https://[fd00::1]',
    'https://[64:ff9b::7f00:1]',
    'https://0',
  ])('a literal address is refused in any spelling: %s', async (origin) => {
    await expect(outbound({ allow: '' }).fetchJson(`${origin}:${port}/keys`, bounds)).rejects.toThrow('is not public');
    expect(server.requests).toEqual([]);
  });

  test('a name that resolves to a private address is refused, by the real resolver', async () => {
    const fetching = outbound({ allow: '' }).fetchJson(`https://localhost:${port}/keys`, bounds);
    await expect(fetching).rejects.toThrow('is not public');
    expect(server.requests).toEqual([]);
  });

  test('a name is reached only through those of its addresses that are allowed', async () => {
    const resolve = async () => [
      { address: '10.9.9.9', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const document = await outbound({ resolve }).fetchJson(`http://idp.localhost:${port}/keys`, bounds);
    expect(document).toEqual({ keys: [] });
  });

  test('a name is judged again at each connection: rebinding gains nothing', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    const asked: string[] = [];
    const resolve = async (hostname: string) => {
      asked.push(hostname);
      return [{ address: answers[asked.length - 1] as string, family: 4 }];
    };
    const guarded = outbound({ resolve });
    await guarded.fetchJson(`http://idp.localhost:${port}/keys`, bounds);
    await expect(guarded.fetchJson(`http://idp.localhost:${port}/keys`, bounds)).rejects.toThrow(
      '10.0.0.1 is not public',
    );
    expect(asked).toHaveLength(2);
  });

  test('a pool judges each new connection: a name that is rebound, and an address in an odd notation', async () => {
    const answers = ['127.0.0.1', '10.0.0.1'];
    let asked = 0;
    const resolve = async () => [{ address: answers[asked++] as string, family: 4 }];
    server.answer = (_request, response) => response.writeHead(200, { connection: 'close' }).end('{}');
    const pool = outbound({ resolve }).pool(`http://idp.localhost:${port}/keys`, { ...bounds, connections: 1 });
    expect((await pool.send({})).status).toBe(200);
    await expect(pool.send({})).rejects.toThrow('10.0.0.1 is not public');
    await pool.close();
    for (const host of [
      '0x0a.0.0.1',
      '167772161',
      '012.1',
      '[::ffff:10.0.0.1]',
      '[64:ff9b::a00:1]',
      '[::ffff:a00:1]',
    ]) {
      const odd = outbound({ allow: '' }).pool(`https://${host}/`, { ...bounds, connections: 1 });
      await expect(odd.send({}), host).rejects.toThrow('is not public');
    }
  });

  test('a pool aborts with its signal, and with the time of the whole exchange', async () => {
    server.answer = () => {};
    const pool = (timeoutMs: number) =>
      outbound().pool(`http://127.0.0.1:${port}/keys`, { ...bounds, timeoutMs, connections: 1 });
    await expect(pool(200).send({})).rejects.toThrow('no complete answer within 200 ms');
    const aborting = new AbortController();
    const sent = pool(5000).send({}, aborting.signal);
    // While the request is on its way, or before: the answer is the same.
    setTimeout(() => aborting.abort(new Error('the lane is lost')), 50);
    await expect(sent).rejects.toThrow('the lane is lost');
    await expect(pool(5000).send({}, AbortSignal.abort(new Error('lost before')))).rejects.toThrow('lost before');
  });

  test('http is for addresses that ACCORD_OUTBOUND_ALLOW names', async () => {
    const at = (allow: string, address: string) => outbound({ allow, resolve: async () => [{ address, family: 4 }] });
    const url = `http://idp.example:${port}/keys`;
    await expect(at('', '93.184.215.14').fetchJson(url, bounds)).rejects.toThrow(
      'must be https (http is for addresses',
    );
    await expect(at('10.0.0.0/8', '93.184.215.14').fetchJson(url, bounds)).rejects.toThrow('must be https');
    await expect(at('10.0.0.0/8', '127.0.0.1').fetchJson(url, bounds)).rejects.toThrow('is not public');
    await expect(outbound({ allow: '' }).fetchJson(`http://93.184.215.14:${port}/`, bounds)).rejects.toThrow(
      'must be https',
    );
    expect(server.requests).toEqual([]);
    expect(await at('127.0.0.1', '127.0.0.1').fetchJson(url, bounds)).toEqual({ keys: [] });
  });

  test.each(['ftp://127.0.0.1/keys', 'file:///etc/passwd', 'http://user:secret@127.0.0.1/keys', 'nonsense'])(
    '%s is refused',
    async (url) => {
      await expect(outbound().fetchJson(url, bounds)).rejects.toThrow(/must be https|user information|not a URL/);
    },
  );
});

describe('look-ups', () => {
  test('few run at once, the others wait their turn and are all answered', async () => {
    let running = 0;
    let most = 0;
    const resolve = async () => {
      most = Math.max(most, ++running);
      await new Promise((done) => setTimeout(done, 5)); // the others come meanwhile
      running--;
      return [{ address: '127.0.0.1', family: 4 }];
    };
    const guarded = outbound({ resolve });
    const url = `http://idp.localhost:${port}/keys`;
    const found = await Promise.all(
      Array.from({ length: 12 }, (_, n) => guarded.fetchJson(url, { ...bounds, tenant: `t${n % 4}` })),
    );
    expect(found).toHaveLength(12);
    expect(most).toBe(limits.dnsLookupsMax);
  });
});

describe('https', () => {
  test('is spoken to a server whose certificate is trusted for the name, and to no other', async () => {
    const { key, cert } = selfSigned('idp.localhost');
    const secure = createServer({ key, cert }, (_, response) => response.end('{"secure":true}'));
    await new Promise<void>((done) => secure.listen(0, '127.0.0.1', done));
    const at = (host: string) => `https://${host}:${(secure.address() as AddressInfo).port}/keys`;
    const guarded = outbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
    const usual = getCACertificates('default');
    try {
      await expect(guarded.fetchJson(at('idp.localhost'), bounds)).rejects.toThrow('self-signed certificate');
      setDefaultCACertificates([...usual, cert]);
      expect(await guarded.fetchJson(at('idp.localhost'), bounds)).toEqual({ secure: true });
      await expect(guarded.fetchJson(at('other.localhost'), bounds)).rejects.toThrow(
        "does not match certificate's altnames",
      );
    } finally {
      setDefaultCACertificates(usual);
      secure.closeAllConnections();
      await new Promise((done) => secure.close(done));
    }
  });
});

describe('our own listeners', () => {
  const own = { allow: '0.0.0.0/0,::/0', ownListeners: () => [{ port }] };

  test.each([
    'http://127.0.0.1',
    'http://127.0.0.2',
    'http://localhost',
    'http://[::ffff:127.0.0.1]',
    'https://0.0.0.0',
    'https://[::]',
  ])('are refused whatever is allowed: %s', async (origin) => {
    await expect(outbound(own).fetchJson(`${origin}:${port}/keys`, bounds)).rejects.toThrow('is this server itself');
    expect(server.requests).toEqual([]);
  });

  test('are refused by the addresses of this machine', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
    for (const { address, family } of addresses) {
      const host = family === 'IPv6' ? `[${address}]` : address;
      await expect(outbound(own).fetchJson(`https://${host}:${port}/keys`, bounds)).rejects.toThrow(
        'is this server itself',
      );
    }
    expect(addresses.length).toBeGreaterThan(0);
  });

  test('another port of this machine is none of ours', async () => {
    const other = outbound({ ownListeners: () => [{ port: port + 1 }] });
    expect(await other.fetchJson(server.jwksUri, bounds)).toEqual({ keys: [] });
  });
});

describe('answers', () => {
  test('a redirect is an error and is not followed', async () => {
    server.answer = (_, response) => response.writeHead(302, { location: `${server.issuer}/elsewhere` }).end();
    await expect(outbound().fetchJson(server.jwksUri, bounds)).rejects.toThrow('302 (redirects are not followed)');
    expect(server.requests).toEqual(['/keys']);
  });

  test('a body may be as long as the bound, and no byte longer', async () => {
    const text = (bytes: number) => JSON.stringify('x'.repeat(bytes - 2));
    server.answer = (_, response) => response.end(text(1000));
    expect(await outbound().fetchJson(server.jwksUri, bounds)).toHaveLength(998);
    server.answer = (_, response) => response.end(text(1001));
    await expect(outbound().fetchJson(server.jwksUri, bounds)).rejects.toThrow('longer than 1000 bytes');
  });

  test('a body without end is cut off', async () => {
    server.answer = (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    };
    await expect(outbound().fetchJson(server.jwksUri, bounds)).rejects.toThrow('longer than 1000 bytes');
  });

  test('a body that drips is cut off by the whole time, not the time between bytes', async () => {
    server.answer = (_, response) => {
      const drip = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(drip));
    };
    await expect(outbound().fetchJson(server.jwksUri, { ...bounds, timeoutMs: 300 })).rejects.toThrow('within 300 ms');
  });

  test('a server that accepts and stays silent is left', async () => {
    server.answer = () => {};
    await expect(outbound().fetchJson(server.jwksUri, { ...bounds, timeoutMs: 300 })).rejects.toThrow('within 300 ms');
  });

  test('anything but a 200 with JSON is an error', async () => {
    server.answer = (_, response) => response.writeHead(404).end('{}');
    await expect(outbound().fetchJson(server.jwksUri, bounds)).rejects.toThrow('answered 404');
    server.answer = (_, response) => response.end('<html>');
    await expect(outbound().fetchJson(server.jwksUri, bounds)).rejects.toThrow('not JSON');
  });

  test('closing ends what is in flight', async () => {
    const guarded = outbound();
    server.answer = () => guarded.close();
    await expect(guarded.fetchJson(server.jwksUri, bounds)).rejects.toThrow('shutting down');
    await expect(guarded.fetchJson(server.jwksUri, bounds)).rejects.toThrow('shutting down');
  });
});
