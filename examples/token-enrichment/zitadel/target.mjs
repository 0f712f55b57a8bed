/**
 * Target of Zitadel's Actions v2 (REST Call) for the function preaccesstoken: adds the user's relationships in Accord to the
 * access token. Run it beside Zitadel, where only Zitadel reaches it. No dependencies; Node 20 or newer.
 *
 * On any failure, and when there is too much, it answers without the claim.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const TIMEOUT_MS = 1000; // of one call: the user waits for it
const ENTRIES_MAX = 100;
const BYTES_MAX = 8192;
const BODY_BYTES_MAX = 1024 * 1024;
const SIGNATURE_AGE_SECONDS_MAX = 300;

/** SERVICE_USER_ID: of the service user that has CLIENT_ID. PROJECT_ID: of the API; it is an audience of the tenant. */
const needed = ['SIGNING_KEY', 'TOKEN_URL', 'CLIENT_ID', 'CLIENT_SECRET', 'SERVICE_USER_ID', 'PROJECT_ID'];
const settings = Object.fromEntries(
  [...needed, 'BASE_URL', 'TENANT', 'CLAIM_NAME'].map((name) => {
    const value = process.env[name];
    if (!value) throw new Error(`${name} is not set`);
    return [name, value];
  }),
);

/** Zitadel signs "time.body" with the target's signing key: ZITADEL-Signature: t=SECONDS,v1=HEX. */
function isSigned(header, body) {
  const parts = String(header ?? '')
    .split(',')
    .map((part) => part.split('='));
  const time = parts.find(([name]) => name === 't')?.[1];
  if (!/^\d+$/.test(time ?? '') || Math.abs(Date.now() / 1000 - Number(time)) > SIGNATURE_AGE_SECONDS_MAX) return false;
  const expected = createHmac('sha256', settings.SIGNING_KEY).update(`${time}.`).update(body).digest();
  return parts.some(([name, value = '']) => {
    const presented = Buffer.from(value, 'hex');
    return name === 'v1' && presented.length === expected.length && timingSafeEqual(presented, expected);
  });
}

let cached = { token: '', until: 0 };

async function token(signal) {
  if (cached.until > Date.now()) return cached.token;
  const { TOKEN_URL, CLIENT_ID, CLIENT_SECRET, PROJECT_ID } = settings;
  const response = await fetch(TOKEN_URL, {
    method: 'POST',
    headers: {
      authorization: `Basic ${btoa(`${encodeURIComponent(CLIENT_ID)}:${encodeURIComponent(CLIENT_SECRET)}`)}`,
    },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      scope: `openid urn:zitadel:iam:org:project:id:${PROJECT_ID}:aud`,
    }),
    redirect: 'error',
    signal,
  });
  if (!response.ok) throw new Error(`the token endpoint answered ${response.status}`);
  const granted = await response.json();
  // Replaced a minute before it expires.
  cached = { token: granted.access_token, until: Date.now() + (granted.expires_in - 60) * 1000 };
  return granted.access_token;
}

async function relationshipsOf(id, signal) {
  const { BASE_URL, TENANT } = settings;
  // One more than the claim may have: then it is known that there are more.
  const url = `${BASE_URL}/${TENANT}/actors/user/${encodeURIComponent(id)}/relationships?limit=${ENTRIES_MAX + 1}`;
  const get = async () =>
    fetch(url, { headers: { authorization: `Bearer ${await token(signal)}` }, redirect: 'error', signal });
  const wasCached = cached.until > Date.now();
  let response = await get();
  if (response.status === 401 && wasCached) {
    cached.until = 0;
    response = await get();
  }
  const body = await response.json();
  // A tenant or a path that does not exist is a 404 too, and not an empty list.
  if (response.status === 404 && body.code === 'no_relationships') return [];
  if (!response.ok) throw new Error(`Accord answered ${response.status}`);
  if (!Array.isArray(body)) throw new Error('Accord did not answer with an array');
  if (body.length > ENTRIES_MAX) throw new Error(`the user has more than ${ENTRIES_MAX}`);
  const relationships = body.map(({ relationshipType, to }) => ({ relationshipType, to }));
  if (Buffer.byteLength(JSON.stringify(relationships)) > BYTES_MAX) throw new Error(`they exceed ${BYTES_MAX} bytes`);
  return relationships;
}

async function claimsFor({ function: name, user }) {
  if (!String(name).endsWith('preaccesstoken') || !user) return [];
  // Our own token: without these, Accord takes it for a user's. It must not ask for relationships, which needs this token.
  if (user.id === settings.SERVICE_USER_ID)
    return [
      { key: 'accord_client', value: 'true' },
      { key: 'scope', value: 'pg:tenant:admin' },
    ];
  if (!user.human) return [];
  const value = await relationshipsOf(user.id, AbortSignal.timeout(TIMEOUT_MS));
  return [{ key: settings.CLAIM_NAME, value }];
}

async function bodyOf(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const server = createServer(async (request, response) => {
  let claims = [];
  try {
    const body = await bodyOf(request);
    if (!isSigned(request.headers['zitadel-signature'], body)) return void response.writeHead(401).end();
    claims = await claimsFor(JSON.parse(body.toString()));
  } catch (error) {
    console.error(`The token has no relationships: ${error.message}`);
  }
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(claims.length > 0 ? { append_claims: claims } : {}));
});
server.requestTimeout = 5000;
server.listen(Number(process.env.PORT ?? 8090), process.env.HOST ?? '127.0.0.1', () => {
  const { address, port } = server.address();
  console.log(`listening on ${address}:${port}`);
});
