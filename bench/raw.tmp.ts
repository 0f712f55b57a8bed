import { createServices } from '../server/services.ts';
import { startServer } from '../server/main.ts';
import { readConfig } from '../server/core/config.ts';
const same = new Function('a', 'b', 'return %HaveSameMap(a,b)');
const fast = new Function('o', 'return %HasFastProperties(o)');
let n = 0;
function check(label: string) {
  n++;
  const out = [];
  for (let len = 1; len <= 14; len++) {
    const text = JSON.stringify(Object.fromEntries(Array.from({ length: len }, (_, i) => [`q${n}_${len}_${i}`, i])));
    out.push(same(JSON.parse(text), JSON.parse(text)) ? '.' : len);
  }
  const q = '{"subject":{"id":"user-3","type":"user","role":"auditor","departments":["fleet","legal"],"scope":"/fleet/","clearance":3},"action":"document:read","resource":{"id":"document-93","type":"document","owner":"user-3","department":"fleet","path":"/fleet/2026/3.pdf","status":"final","classification":"secret","shared":false},"context":{"method":"POST","channel":"web","ip":"192.0.2.17"}}';
  const a = JSON.parse(q), b = JSON.parse(q);
  let best = 1e9; for (let r = 0; r < 10; r++) { const s = performance.now(); for (let i = 0; i < 1000; i++) JSON.parse(q); best = Math.min(best, performance.now() - s); }
  console.log(label.padEnd(14), out.join(' '), same(a, b), same(a.subject, b.subject), same(a.resource, b.resource), same(a.context, b.context), fast(a), 'parse us', best.toFixed(2));
}
const config = readConfig();
const services = await createServices(config, { applicationName: 'serve' });
check('services');
services.prepareCompiler();
const server = await startServer(config, services);
check('started');
setInterval(() => check('later'), 2000);
process.on('message', async (m) => { if (m === 'usage') { const c = process.cpuUsage(), t = process.threadCpuUsage(); process.send?.({ cpuUs: c.user + c.system, mainUs: t.user + t.system, rssMiB: 0, programs: 0 }); } else { await server.close(); await services.close(); process.exit(0); } });
process.send?.('up');
