/** What needs somebody: sentences with a verb, each a link to the thing. */
import { useLanguage, useTexts } from '../../core/texts.ts';
import { Icon, Link, useNow } from '../../ui/index.ts';
import { relative } from '../../ui/time.tsx';
import type { Attention as Item } from './data.ts';
import { texts } from './texts.ts';

export function Attention({ items, isRecords }: { items: readonly Item[]; isRecords: boolean }) {
  const t = useTexts(texts);
  const { language } = useLanguage();
  const now = useNow();
  return (
    <section className="card stack" aria-label={t.attention}>
      <h2>{t.attention}</h2>
      {items.length === 0 && (
        <p className="row">
          <Icon name="check" /> {isRecords ? t.nothing : t.nothingConfigured}
        </p>
      )}
      {items.length > 0 && (
        <ul className="attention">
          {items.map((item) => (
            <li key={`${item.kind} ${item.subject} ${item.since}`}>
              <Icon name={item.kind === 'key_rotation' ? 'clock' : 'warning'} />
              <Link to={`/${item.target}`}>
                {t.needs[item.kind]({
                  count: item.count,
                  subject: item.subject ?? '',
                  reason: item.reason === undefined ? '' : ` (${item.reason})`,
                  until: item.until === undefined ? '' : relative(language, Date.parse(item.until), now || Date.now()),
                })}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
