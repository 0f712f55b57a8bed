/** The language of the page: that of before, or else the first one of the browser's. */
import { type ReactNode, startTransition, useEffect, useMemo, useState } from 'react';
import { firstLanguage, keepLanguage, LanguageContext } from '../core/texts.ts';

export function WithLanguage({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage);
  useEffect(() => {
    document.documentElement.lang = language;
  }, [language]);
  const value = useMemo(
    () => ({
      language,
      choose: (next: typeof language) => {
        keepLanguage(next);
        startTransition(() => setLanguage(next));
      },
    }),
    [language],
  );
  return <LanguageContext value={value}>{children}</LanguageContext>;
}
