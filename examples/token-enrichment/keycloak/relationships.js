/*
 * Script mapper of Keycloak: the user's relationships in Accord, as JSON. Keycloak runs it on Nashorn, so it is ECMAScript 5 with
 * Java's classes.
 *
 * Environment of Keycloak: ACCORD_TOKEN_URL (the realm's token endpoint, or that of the tenant's own issuer), ACCORD_CLIENT_ID,
 * ACCORD_CLIENT_SECRET, ACCORD_AUDIENCE, ACCORD_BASE_URL, ACCORD_TENANT.
 *
 * On any failure, and when there is too much, the value is null, for which Keycloak adds no claim.
 */
var System = Java.type('java.lang.System');
var URL = Java.type('java.net.URL');
var Scanner = Java.type('java.util.Scanner');
var JavaString = Java.type('java.lang.String');
var Collections = Java.type('java.util.Collections');

var TIMEOUT_MS = 500; // to connect, and again to read, of each request: the user waits for it
var ENTRIES_MAX = 100;
var BYTES_MAX = 8192;
var CACHE_KEY = 'accord-token';

function setting(name) {
  var value = System.getenv('ACCORD_' + name);
  if (value === null) throw new Error('ACCORD_' + name + ' is not set');
  return String(value);
}

function request(method, url, headers, body) {
  var connection = new URL(url).openConnection();
  connection.setConnectTimeout(TIMEOUT_MS);
  connection.setReadTimeout(TIMEOUT_MS);
  connection.setInstanceFollowRedirects(false);
  connection.setRequestMethod(method);
  for (var name in headers) connection.setRequestProperty(name, headers[name]);
  if (body !== null) {
    connection.setDoOutput(true);
    var out = connection.getOutputStream();
    out.write(new JavaString(body).getBytes('UTF-8'));
    out.close();
  }
  var status = connection.getResponseCode();
  var stream = status < 400 ? connection.getInputStream() : connection.getErrorStream();
  if (stream === null) return { status: status, text: '' };
  var scanner = new Scanner(stream, 'UTF-8').useDelimiter('\\A');
  var text = scanner.hasNext() ? String(scanner.next()) : '';
  scanner.close();
  return { status: status, text: text };
}

function newToken() {
  var form = {
    grant_type: 'client_credentials',
    client_id: setting('CLIENT_ID'),
    client_secret: setting('CLIENT_SECRET'),
    audience: setting('AUDIENCE'),
    scope: 'pg:tenant:admin'
  };
  var pairs = [];
  for (var name in form) pairs.push(name + '=' + encodeURIComponent(form[name]));
  var headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  var answer = request('POST', setting('TOKEN_URL'), headers, pairs.join('&'));
  if (answer.status !== 200) throw new Error('the token endpoint answered ' + answer.status);
  var granted = JSON.parse(answer.text);
  // Replaced a minute before it expires.
  var seconds = Math.floor(granted.expires_in - 60);
  if (seconds > 0)
    keycloakSession.singleUseObjects().put(CACHE_KEY, seconds, Collections.singletonMap('token', granted.access_token));
  return granted.access_token;
}

function relationships() {
  // The service account of the request for the token would ask for itself again.
  if (user.getServiceAccountClientLink() !== null) return null;
  var url =
    setting('BASE_URL') +
    '/' +
    setting('TENANT') +
    '/actors/user/' +
    encodeURIComponent(user.getId()) +
    // One more than the claim may have: then it is known that there are more.
    '/relationships?limit=' +
    (ENTRIES_MAX + 1);
  var get = function (token) {
    return request('GET', url, { Authorization: 'Bearer ' + token }, null);
  };
  var cached = keycloakSession.singleUseObjects().get(CACHE_KEY);
  var answer = get(cached === null ? newToken() : String(cached.get('token')));
  if (answer.status === 401 && cached !== null) answer = get(newToken());
  var body = JSON.parse(answer.text);
  // A tenant or a path that does not exist is a 404 too, and not an empty list.
  if (answer.status === 404 && body.code === 'no_relationships') return '[]';
  if (answer.status !== 200) throw new Error('Accord answered ' + answer.status);
  if (!Array.isArray(body) || body.length > ENTRIES_MAX) return null;
  var text = JSON.stringify(
    body.map(function (entry) {
      return { relationshipType: entry.relationshipType, to: entry.to };
    })
  );
  return new JavaString(text).getBytes('UTF-8').length > BYTES_MAX ? null : text;
}

function relationshipsOrNothing() {
  try {
    return relationships();
  } catch (error) {
    System.err.println('The token has no relationships: ' + error);
    return null;
  }
}

exports = relationshipsOrNothing();
