/** How many servers serve what is stored. */
import { useTexts } from '../../core/texts.ts';
import { State } from '../../ui/index.ts';
import type { Serving } from './serving.ts';
import { texts } from './texts.ts';

export function Served({ by }: { by: Serving | undefined }) {
  const t = useTexts(texts);
  if (by === undefined) return <span className="dim">–</span>;
  if (by.current === by.all) return <span>{t.onAll(by.all)}</span>;
  return <State tone="warn">{t.onSome(by.current, by.all)}</State>;
}
