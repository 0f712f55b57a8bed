// Run by `helm test` in our own image (templates/tests/api.yaml). Exit 0: all as it should be.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';

// biome-ignore lint/style/noProcessEnv: a program of its own
const given = process.env;
const {
  TEST_SERVICE: service,
  TEST_ADMIN: admin,
  TEST_TENANT: tenant,
  TEST_REQUEST: body,
  TEST_OUTCOME: outcome,
} = given;
const ask = (url, options = {}) => fetch(url, { signal: AbortSignal.timeout(10_000), ...options });
const post = (name, headers = {}) =>
  ask(`${service}/authz/${name}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });

const ready = await ask(`${admin}/ready`);
assert.equal(ready.status, 200, `a server is not ready: ${await ready.text()}`);
const refused = await post(tenant || 'nobody');
assert.ok([401, 404].includes(refused.status), `a request without a token was answered ${refused.status}`);
// biome-ignore lint/suspicious/noConsole: the log of the test
console.log('The APIs answer through their Service, and refuse who has no token.');
if (tenant) {
  const args = ['token', '--tenant', tenant, '--client', 'helm-test', '--scope', 'authz:evaluate'];
  const token = execFileSync('/app/deploy/accord', args, { encoding: 'utf8' }).trim();
  const response = await post(tenant, { authorization: `Bearer ${token}` });
  const answer = await response.json();
  assert.equal(answer.outcome, outcome, `HTTP ${response.status}: ${JSON.stringify(answer)}`);
  // biome-ignore lint/suspicious/noConsole: the log of the test
  console.log(`Tenant ${tenant} decided: ${outcome}.`);
}
