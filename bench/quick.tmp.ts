import { mintClientToken } from '../server/keys/index.ts';
import { putPolicy } from '../server/policies/index.ts';
import { createInstallation, pinToCore1, startProcess, writer } from './installation.ts';
import { closedLoop, openConnections, prepare, type Request } from './load.ts';
import { question, twentyRules } from './policies.ts';
pinToCore1();
const installation = await createInstallation({ durable: false });
const { services } = installation;
await installation.tenant('bench');
await putPolicy(services.policies, writer, 'bench', 'document:read', { rego: twentyRules });
const requests: Request[] = [];
for (let i = 0; i < 200; i++) {
  const { token } = await mintClientToken(services.mint, 'bench', { clientId: `backend-${i}`, scopes: ['authz:evaluate'] });
  requests.push(prepare('/authz/bench', token, process.env.NOACTION ? { ...question(i), action: undefined } : question(i)));
}
const sides = [];
for (const mode of (process.env.MODES ?? 'accord,bare').split(',')) {
  const process = await startProcess(mode as never, installation.environment, 0);
  const connections = await openConnections(process.port, 32);
  const r = await connections[0]!.ask(requests[3]!);
  console.log(r);
  await closedLoop(connections, requests, 12_000, 30_000);
  await process.rest();
  await process.profile();
  sides.push({ mode, process, connections, cpu: [] as number[], main: [] as number[], n: 0, cpuTotal: 0 });
}
for (let round = 0; round < Number(process.argv[2] ?? 10); round++) for (const s of sides) {
  const a = await s.process.usage();
  const { answered } = await closedLoop(s.connections, requests, 5000, 4000);
  const b = await s.process.usage();
  s.cpu.push((b.cpuUs - a.cpuUs) / answered); const R = (k: string) => (((b as any)[k] - (a as any)[k]) / answered).toFixed(3); if (round % 4 === 1) console.log(s.mode, 'flt', R('minorPageFault'), 'vol', R('voluntaryContextSwitches'), 'invol', R('involuntaryContextSwitches'), 'usr', R('userCPUTime'), 'sys', R('systemCPUTime'));
  s.main.push((b.mainUs - a.mainUs) / answered); s.n += answered; 
}
const med = (v: number[]) => [...v].sort((x, y) => x - y)[v.length >> 1]!;
for (const s of sides) console.log(s.mode, 'n', s.n, 'cpu min', Math.min(...s.cpu).toFixed(1), 'med', med(s.cpu).toFixed(1), 'main min', Math.min(...s.main).toFixed(1), 'med', med(s.main).toFixed(1), 'rss', (await s.process.usage()).rssMiB.toFixed(0));
const ratios = sides[0]!.main.map((v, i) => sides.at(-1)!.main[i]! / v);
console.log('bare/ours main: med', med(ratios).toFixed(3), 'min/min', (Math.min(...sides.at(-1)!.main) / Math.min(...sides[0]!.main)).toFixed(3), ' cpu min/min', (Math.min(...sides.at(-1)!.cpu) / Math.min(...sides[0]!.cpu)).toFixed(3));
for (const s of sides) { for (const c of s.connections) c.close(); await s.process.stop(); }
await installation.close();
