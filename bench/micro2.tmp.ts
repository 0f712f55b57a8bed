import { createInstallation } from './installation.ts';
const same = new Function('a', 'b', 'return %HaveSameMap(a,b)');
let n = 0;
function bench(label: string) {
  n++;
  const out = [];
  for (let len = 1; len <= 14; len++) {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: len }, (_, i) => [`q${n}_${len}_${i}`, i])));
    out.push(same(JSON.parse(text), JSON.parse(text)) ? '.' : len);
  }
  console.log(label.padEnd(14), out.join(' '));
}
bench('start');
await import('../server/services.ts'); bench('services');
const { createApp } = await import('../server/app.ts'); bench('app module');
const installation = await createInstallation({ durable: false });
bench('installation');
const app = await createApp(installation.config, installation.services); bench('app');
await app.ready(); bench('ready');
await installation.tenant('bench'); bench('tenant');
app.swagger(); bench('swagger');
const h = { host: '127.0.0.1' };
for (let i = 0; i < 2000; i++) await app.inject({ method: 'POST', url: '/authz/bench', payload: { subject: { id: 'x' } } });
bench('requests');
await app.close(); await installation.close();
