/**
 * A single-page application: it logs its user in (authorization code, PKCE, DPoP) and calls consents and invitations itself.
 * Tokens and the key are only in the memory of this page. When the page is loaded again, the user logs in again, which asks for
 * no password as long as the session at the issuer lives.
 */

const CLIENT_ID = 'carshare-web';
const AUDIENCE = 'https://carshare.example';
const CONSENTS = ['trip-data', 'newsletter'];
const LANGUAGE = 'en';

const issuer = document.querySelector('meta[name="accord-issuer"]').content;
const apis = issuer.replace(/\/oidc$/, '');
const redirectUri = location.origin + location.pathname;
const element = (id) => document.getElementById(id);

/** Of the user who is logged in: tokens, and when the access token expires. */
let session;
/** Of this page. Nobody can read it out, so a stolen token is of no use elsewhere. */
const key = crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign']);
/** The newest nonce for proofs of each origin that wants one (RFC 9449 section 8). */
const nonces = new Map();

const bytesOf = (text) => new TextEncoder().encode(text);
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
const digest = async (text) => base64url(await crypto.subtle.digest('SHA-256', bytesOf(text)));
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const json = (value) => base64url(bytesOf(JSON.stringify(value)));

/** A proof that this page has the key (RFC 9449 section 4.2). */
async function proof(method, url, accessToken) {
  const { privateKey, publicKey } = await key;
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', publicKey);
  const { origin, pathname } = new URL(url);
  const claims = {
    ...{ jti: random(), htm: method, htu: origin + pathname, iat: Math.floor(Date.now() / 1000) },
    ...(accessToken ? { ath: await digest(accessToken) } : {}),
    ...(nonces.has(origin) ? { nonce: nonces.get(origin) } : {}),
  };
  const signed = `${json({ typ: 'dpop+jwt', alg: 'ES256', jwk: { kty, crv, x, y } })}.${json(claims)}`;
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, bytesOf(signed));
  return `${signed}.${base64url(signature)}`;
}

/** A request with a proof. It is sent again, once, when the answer only asks for a nonce. */
async function send(url, { method, headers = {}, body }, accessToken) {
  const { origin } = new URL(url);
  for (let attempt = 1; ; attempt++) {
    const dpop = await proof(method, url, accessToken);
    const response = await fetch(url, { method, body, headers: { ...headers, DPoP: dpop }, credentials: 'omit' });
    const nonce = response.headers.get('DPoP-Nonce');
    const isNew = nonce !== null && nonce !== nonces.get(origin);
    if (isNew) nonces.set(origin, nonce);
    if (attempt > 1 || !isNew || ![400, 401].includes(response.status)) return response;
  }
}

async function discover() {
  const response = await fetch(`${issuer}/.well-known/openid-configuration`, { credentials: 'omit' });
  const metadata = await response.json();
  if (metadata.issuer !== issuer) throw new Error('The metadata are of another issuer.');
  return metadata;
}

/** Leaves for the log-in. What is checked when the user comes back stays in this tab. */
async function logIn() {
  const { authorization_endpoint: endpoint } = await discover();
  const asked = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem('asked', JSON.stringify(asked));
  const parameters = {
    ...{ client_id: CLIENT_ID, response_type: 'code', redirect_uri: redirectUri, scope: 'openid profile email' },
    ...{ resource: AUDIENCE, state: asked.state, nonce: asked.nonce },
    ...{ code_challenge: await digest(asked.verifier), code_challenge_method: 'S256' },
  };
  location.assign(`${endpoint}?${new URLSearchParams(parameters)}`);
}

/** The user is back from the log-in. */
async function finishLogIn(answer) {
  const asked = JSON.parse(sessionStorage.getItem('asked') ?? '{}');
  sessionStorage.removeItem('asked');
  // A code that somebody else planted in the address (RFC 9700 section 4.7), or that another issuer made (RFC 9207).
  if (asked.state === undefined || answer.get('state') !== asked.state)
    throw new Error('This log-in was not begun here. Log in again.');
  if (answer.get('iss') !== issuer) throw new Error('The answer is of another issuer.');
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? answer.get('error'));
  await requestTokens({
    ...{ grant_type: 'authorization_code', code: answer.get('code'), redirect_uri: redirectUri },
    code_verifier: asked.verifier,
  });
  if (session.claims.nonce !== asked.nonce) throw new Error('The ID token is of another log-in.');
}

async function requestTokens(grant) {
  const { token_endpoint: endpoint } = await discover();
  const body = new URLSearchParams({ ...grant, client_id: CLIENT_ID, resource: AUDIENCE });
  const response = await send(endpoint, { method: 'POST', body });
  const tokens = await response.json();
  if (!response.ok) throw new Error(tokens.error_description ?? tokens.error);
  if (tokens.token_type !== 'DPoP') throw new Error('The token is not bound to the key of this page.');
  // It comes from the token endpoint itself, so its signature need not be checked (OpenID Connect Core section 3.1.3.7).
  const claims = tokens.id_token ? claimsOf(tokens.id_token) : session.claims;
  if (claims.iss !== issuer || claims.aud !== CLIENT_ID) throw new Error('The ID token is not for this application.');
  session = {
    ...{ claims, access: tokens.access_token, refresh: tokens.refresh_token, id: tokens.id_token ?? session.id },
    expiresAt: Date.now() + tokens.expires_in * 1000,
  };
}

function claimsOf(token) {
  const text = atob(token.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (one) => one.charCodeAt(0))));
}

let refreshing;
/** The access token. A refresh token may be used once only, so requests wait for one refresh together. */
async function accessToken() {
  if (Date.now() > session.expiresAt - 30_000) {
    refreshing ??= requestTokens({ grant_type: 'refresh_token', refresh_token: session.refresh }).finally(() => {
      refreshing = undefined;
    });
    await refreshing;
  }
  return session.access;
}

/** Calls an API of the tenant. @throws Error with what the answer says */
async function call(method, path, body) {
  const token = await accessToken();
  const headers = {
    Authorization: `DPoP ${token}`,
    ...(body ? { 'Content-Type': 'application/json' } : {}),
  };
  const request = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await send(apis + path, request, token);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.detail ?? answer.title);
  return answer;
}

async function logOut() {
  const { end_session_endpoint: endpoint } = await discover();
  const parameters = { id_token_hint: session.id, client_id: CLIENT_ID, post_logout_redirect_uri: redirectUri };
  location.assign(`${endpoint}?${new URLSearchParams(parameters)}`);
}

const words = {
  ...{ given: 'you agreed', valid: 'you agreed', grace: 'there is a new version' },
  ...{ required: 'you have not agreed yet', expired: 'your consent has expired' },
};

async function showConsents() {
  const query = (name) => new URLSearchParams({ name, language: LANGUAGE });
  const asked = await Promise.all(CONSENTS.map((name) => call('GET', `/consents/active?${query(name)}`)));
  element('consents').replaceChildren(...asked.map(consentItem));
}

function consentItem({ name, version, document: shown, status, content }) {
  const text = content ? make('a', { textContent: content.title, href: content.url, target: '_blank' }) : name;
  const item = make('li', {}, text, make('span', { textContent: words[status] ?? status }));
  item.dataset.name = name;
  if (['given', 'valid'].includes(status)) return item;
  const agree = async () => {
    await call('POST', '/consents', { name, version, document: shown });
    await showConsents();
  };
  item.append(make('button', { type: 'button', textContent: 'I agree', onclick: () => attempt(agree) }));
  return item;
}

async function showInvitations() {
  const { invitations } = await call('GET', '/sharing/invitations');
  const items = invitations.map(({ to, invitee, status }) =>
    make('li', {}, make('span', { textContent: `${to.id} with ${invitee.contact.masked}` }), status),
  );
  element('invitations').replaceChildren(...(items.length > 0 ? items : [make('li', {}, 'none')]));
}

async function invite(form) {
  const { email, car } = Object.fromEntries(new FormData(form));
  const { requestToken } = await call('POST', '/sharing/invitations', {
    relationshipType: 'may_use',
    to: { type: 'car', id: car },
    invitee: { contact: { type: 'email', value: email } },
  });
  element('invited').hidden = false;
  element('invited').textContent = requestToken
    ? `Give this to ${email}, who accepts the invitation with it: ${requestToken}`
    : `${email} is invited.`;
  form.elements.email.value = '';
  await showInvitations();
}

/** @param children elements and texts */
function make(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Does something, and says what went wrong with it. */
async function attempt(action) {
  element('problem').hidden = true;
  try {
    await action();
  } catch (error) {
    element('problem').textContent = error.message;
    element('problem').hidden = false;
  }
}

async function start() {
  const answer = new URLSearchParams(location.search);
  // The code must not stay in the address and the history.
  history.replaceState(null, '', redirectUri);
  if (answer.has('code') || answer.has('error')) await attempt(() => finishLogIn(answer));
  element('visitor').hidden = session !== undefined;
  element('user').hidden = session === undefined;
  if (session === undefined) return;
  element('email').textContent = session.claims.email ?? 'somebody';
  element('id').textContent = session.claims.sub;
  await attempt(() => Promise.all([showConsents(), showInvitations()]));
}

element('log-in').addEventListener('click', () => attempt(logIn));
element('log-out').addEventListener('click', () => attempt(logOut));
element('invite').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(() => invite(event.target));
});
await start();
