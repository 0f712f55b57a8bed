/** Light or dark, and the language: items of a menu. */
import { useMantineColorScheme } from '@mantine/core';
import { languages, offered, useLanguage } from '../core/texts.ts';
import { Icon } from './icons.tsx';
import { MenuItem } from './menu.tsx';
import { useUiTexts } from './texts.ts';

export function LooksItems() {
  const texts = useUiTexts();
  const { language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = { light: texts.light, dark: texts.dark, auto: texts.system };
  return (
    <>
      <h2>{texts.appearance}</h2>
      {(Object.keys(schemes) as (keyof typeof schemes)[]).map((scheme) => (
        <MenuItem key={scheme} checked={colorScheme === scheme} onChoose={() => setColorScheme(scheme)}>
          <Icon name={colorScheme === scheme ? 'check' : scheme === 'dark' ? 'moon' : 'sun'} /> {schemes[scheme]}
        </MenuItem>
      ))}
      <hr />
      <h2>{texts.language}</h2>
      {offered.map((one) => (
        <MenuItem key={one} checked={language === one} onChoose={() => choose(one)}>
          <span lang={one}>{languages[one]}</span>
        </MenuItem>
      ))}
    </>
  );
}
