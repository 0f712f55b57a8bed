/**
 * Action of Auth0's trigger post-login: adds the user's relationships in Accord to the access token.
 *
 * Secrets: CLIENT_ID, CLIENT_SECRET (of the machine-to-machine application), AUDIENCE, BASE_URL, TENANT, CLAIM_NAME, and
 * TOKEN_URL if it is not /oauth/token of the host that the user logs in at. No dependencies; Node 18 or newer.
 *
 * On any failure, and when there is too much, the token is issued without the claim.
 */
const TIMEOUT_MS = 1000; // of the whole Action: the user waits for it
const ENTRIES_MAX = 100;
const BYTES_MAX = 8192;
const CACHE_KEY = 'accord-token';

exports.onExecutePostLogin = async (event, api) => {
  try {
    const relationships = await relationshipsOf(event, api, AbortSignal.timeout(TIMEOUT_MS));
    api.accessToken.setCustomClaim(event.secrets.CLAIM_NAME, relationships);
  } catch (error) {
    console.log(`The token has no relationships: ${error.message}`);
  }
};

async function relationshipsOf(event, api, signal) {
  const { BASE_URL, TENANT } = event.secrets;
  // The | of Auth0's ids may stand in a path; all else that may not is encoded.
  const id = encodeURIComponent(event.user.user_id).replaceAll('%7C', '|');
  // One more than the claim may have: then it is known that there are more.
  const url = `${BASE_URL}/${TENANT}/actors/user/${id}/relationships?limit=${ENTRIES_MAX + 1}`;
  const get = (token) => fetch(url, { headers: { authorization: `Bearer ${token}` }, redirect: 'error', signal });

  const cached = api.cache.get(CACHE_KEY);
  let response = await get(cached ? cached.value : await newToken(event, api, signal));
  if (response.status === 401 && cached) response = await get(await newToken(event, api, signal));
  if (response.status === 404 && (await codeOf(response)) === 'no_relationships') return [];
  if (!response.ok) throw new Error(`Accord answered ${response.status}`);
  const entries = await response.json();
  if (!Array.isArray(entries)) throw new Error('Accord did not answer with an array');
  if (entries.length > ENTRIES_MAX) throw new Error(`the user has more than ${ENTRIES_MAX}`);
  const relationships = entries.map(({ relationshipType, to }) => ({ relationshipType, to }));
  if (Buffer.byteLength(JSON.stringify(relationships)) > BYTES_MAX) throw new Error(`they exceed ${BYTES_MAX} bytes`);
  return relationships;
}

/** A tenant or a path that does not exist is a 404 too, and not an empty list. */
async function codeOf(response) {
  const { code } = await response.json();
  return code;
}

async function newToken(event, api, signal) {
  const { CLIENT_ID, CLIENT_SECRET, AUDIENCE, TOKEN_URL } = event.secrets;
  const response = await fetch(TOKEN_URL || `https://${event.request.hostname}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'client_credentials',
      client_id: CLIENT_ID,
      client_secret: CLIENT_SECRET,
      audience: AUDIENCE,
      scope: 'pg:tenant:admin',
    }),
    redirect: 'error',
    signal,
  });
  if (!response.ok) throw new Error(`the token endpoint answered ${response.status}`);
  const { access_token: token, expires_in: seconds } = await response.json();
  // Replaced a minute before it expires. What cannot be cached is requested each time.
  const ttl = Math.min(seconds - 60, 86_400) * 1000;
  if (ttl > 0) api.cache.set(CACHE_KEY, token, { ttl });
  return token;
}
