import http from 'node:http';
import { parseListen } from '../server/core/config.ts';
const mode = process.argv[2];
const { host, port } = parseListen(process.env.ACCORD_LISTEN as string);
const headers = mode === 'raw-headers';
http.createServer({ }, (req, res) => {
  let text = '';
  req.setEncoding('utf8');
  req.on('data', (c) => (text += c));
  req.on('end', () => {
    const body = JSON.parse(text);
    const out = JSON.stringify({ outcome: body.action ? 'allow' : 'deny' });
    const h: any = { 'content-type': 'application/json; charset=utf-8', 'content-length': out.length };
    if (headers) Object.assign(h, { 'x-request-id': 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa', 'accord-revision': 'c12', 'strict-transport-security': 'max-age=31536000', 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin', 'ratelimit-limit': 5000, 'ratelimit-remaining': 4000, 'ratelimit-reset': 1 });
    res.writeHead(200, h);
    res.end(out);
  });
}).listen(port, host, () => process.send?.('up'));
process.on('message', (m) => { if (m === 'usage') { const c = process.cpuUsage(), t = process.threadCpuUsage(); process.send?.({ cpuUs: c.user + c.system, mainUs: t.user + t.system, rssMiB: 0, programs: 0 }); } else process.exit(0); });
