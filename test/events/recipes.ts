/** The functions of the recipes in docs/events.md, as readers copy them. */
import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const sources = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, source]) => source as string);

export async function recipe<Recipe>(name: string): Promise<Recipe> {
  const source = sources.find(
    (one) => one.includes(`export async function ${name}(`) || one.includes(`export function ${name}(`),
  );
  if (source === undefined) throw new Error(`docs/events.md has no recipe ${name}`);
  return (await import(`data:text/javascript,${encodeURIComponent(source)}`))[name] as Recipe;
}
