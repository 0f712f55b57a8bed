import { question } from './policies.ts';
import { nestsWithin } from '../server/rego/nesting.ts';
const texts = Array.from({ length: 200 }, (_, i) => JSON.stringify(question(i)));
function findUnusable(value: unknown, levels: number, escaped: boolean): any {
  if (typeof value === 'string') return undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return { };
  for (const name in value) {
    const found = findUnusable((value as Record<string, unknown>)[name], levels - 1, escaped);
    if (found === undefined) continue;
    return found;
  }
  return undefined;
}
const deep = (text: string) => { let d = 0, m = 0; for (let i = 0; i < text.length; i++) { const c = text.charCodeAt(i); if (c === 123 || c === 91) { if (++d > m) m = d; } else if (c === 125 || c === 93) d--; } return m; };
const ways: Record<string, (t: string) => unknown> = {
  parse: (t) => JSON.parse(t),
  parseFind: (t) => findUnusable(JSON.parse(t), 64, false),
  parseNests: (t) => nestsWithin(JSON.parse(t), 64),
  scan: (t) => deep(t),
  parseStringify: (t) => JSON.stringify(JSON.parse(t)),
  proto: (t) => /"(?:_|\\u005[Ff])(?:_|\\u005[Ff])(?:p|\\u0070)(?:r|\\u0072)(?:o|\\u006[Ff])(?:t|\\u0074)(?:o|\\u006[Ff])(?:_|\\u005[Ff])(?:_|\\u005[Ff])"\s*:/.test(t) || /"(?:c|\\u0063)(?:o|\\u006[Ff])(?:n|\\u006[Ee])(?:s|\\u0073)(?:t|\\u0074)(?:r|\\u0072)(?:u|\\u0075)(?:c|\\u0063)(?:t|\\u0074)(?:o|\\u006[Ff])(?:r|\\u0072)"\s*:/.test(t),
};
const best: Record<string, number> = {};
for (let r = 0; r < 30; r++) for (const [n, f] of Object.entries(ways)) { const s = performance.now(); for (let i = 0; i < 4000; i++) f(texts[i % 200]!); const us = (performance.now() - s) / 4; best[n] = Math.min(best[n] ?? 1e9, us); }
console.log(best, texts[3]!.length);
