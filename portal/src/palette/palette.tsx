/** Ctrl-K (or Command-K): goes to screens, and finds policies, people, types and pasted ids as the screens know them. */
import { useMantineColorScheme } from '@mantine/core';
import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useState } from 'react';
import { useGo } from '../core/address.ts';
import type { PaletteEntry } from '../core/screen.ts';
import { mayDo, useTenant } from '../core/session.ts';
import { useLanguage } from '../core/texts.ts';
import { screens } from '../screens/index.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Icon } from '../ui/icons.tsx';
import type { UiTexts } from '../ui/texts.en.ts';
import { useUiTexts } from '../ui/texts.ts';
import { matching } from './find.ts';

type Entry = PaletteEntry & { scheme?: 'light' | 'dark' | 'auto' };
/** Appearance: it is chosen where the person is. */
const looks = (texts: UiTexts): Entry[] =>
  (['light', 'dark', 'auto'] as const).map((scheme) => ({
    ...{ label: texts[scheme === 'auto' ? 'system' : scheme], hint: texts.appearance, scheme, to: scheme },
    icon: scheme === 'dark' ? 'moon' : 'sun',
  }));

const key = ({ to, label }: PaletteEntry) => `${to} ${label}`;

/** What stands in the registry: the screens themselves and their own entries. */
function useOwnEntries(): PaletteEntry[] {
  const { language } = useLanguage();
  const { role } = useTenant().tenant;
  const [entries, setEntries] = useState<PaletteEntry[]>([]);
  useEffect(() => {
    let isGone = false;
    const all = screens.map(async ({ id, icon, texts, palette, routes }) => {
      const closed = routes.filter(({ may }) => may && !mayDo(role, may)).map(({ path }) => `/${id}${path}`);
      const isFor = ({ to, may }: PaletteEntry) => !closed.includes(to) && (may === undefined || mayDo(role, may));
      const found = await texts.of(language);
      const more = (palette?.(found as never) ?? []).map((one) => ({ icon, hint: found.title, ...one }));
      return [{ label: found.title, icon, to: `/${id}` }, ...more].filter(isFor);
    });
    void Promise.all(all).then((lists) => isGone || setEntries(lists.flat()));
    return () => {
      isGone = true;
    };
  }, [language, role]);
  return entries;
}

/** What the tenant has. Each screen answers when it can. */
function useFound(query: string): PaletteEntry[] {
  const { tenant, api } = useTenant();
  const [found, setFound] = useState<{ query: string; entries: PaletteEntry[] }>({ query: '', entries: [] });
  useEffect(() => {
    setFound({ query, entries: [] });
    if (query.trim().length < 2) return;
    const control = new AbortController();
    const { signal } = control;
    const timer = setTimeout(() => {
      for (const { find, icon } of screens) {
        find?.(query.trim(), { tenant, api, signal }).then(
          (entries) => {
            if (signal.aborted) return;
            const more = entries.map((one) => ({ icon, ...one }));
            setFound((before) => ({ query, entries: [...before.entries, ...more] }));
          },
          () => {}, // this screen finds nothing now; the others do
        );
      }
    }, 200);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }, [query, tenant, api]);
  return found.query === query ? found.entries : [];
}

export default function Palette({ onClose }: { onClose: () => void }) {
  const texts = useUiTexts();
  const go = useGo();
  const list = useId();
  const [query, setQuery] = useState('');
  const [at, setAt] = useState(0);
  const entries = useOwnEntries();
  const own = useMemo((): Entry[] => [...entries, ...looks(texts)], [entries, texts]);
  const { setColorScheme } = useMantineColorScheme();
  const found = useFound(useDeferredValue(query));
  const shown = useMemo(() => {
    const all: Entry[] = [...matching(own, query), ...found];
    return [...new Map(all.map((one) => [key(one), one])).values()].slice(0, 40);
  }, [own, found, query]);
  const choose = (entry: Entry | undefined) => {
    if (entry === undefined) return;
    onClose();
    if (entry.scheme === undefined) go(entry.to);
    else setColorScheme(entry.scheme);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') choose(shown[at]);
    if (step === undefined || shown.length === 0) return;
    event.preventDefault();
    setAt((at + step + shown.length) % shown.length);
  };
  return (
    <Dialog label={texts.paletteLabel} className="palette" onClose={onClose}>
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown[at] && `${list}-${at}`}
        aria-label={texts.paletteLabel}
        placeholder={texts.paletteLabel}
        value={query}
        onChange={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className="list" id={list} role="listbox" tabIndex={-1} aria-label={texts.paletteLabel}>
        {shown.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys, and names the active entry
          <div
            key={key(entry)}
            id={`${list}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onClick={() => choose(entry)}
          >
            <Icon name={entry.icon ?? 'chevronRight'} />
            {entry.label}
            {entry.hint !== undefined && <span className="dim">{entry.hint}</span>}
          </div>
        ))}
      </div>
      {shown.length === 0 && (
        <p className="dim" style={{ padding: '0 16px 16px' }}>
          {texts.paletteNone}
        </p>
      )}
    </Dialog>
  );
}
