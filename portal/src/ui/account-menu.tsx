/** Who is logged in; language, light or dark, log out. */
import { useMantineColorScheme } from '@mantine/core';
import { api } from '../core/api.ts';
import { ApiProblem } from '../core/problem.ts';
import { useSession } from '../core/session.ts';
import { type Language, languages, useLanguage } from '../core/texts.ts';
import { Icon } from './icons.tsx';
import { Menu, MenuItem } from './menu.tsx';
import { useUiTexts } from './texts.ts';
import { toast } from './toasts.tsx';

async function logOut(failed: string): Promise<void> {
  try {
    const { data } = await api.post<{ location: string }>('/portal/session/end');
    location.assign(data.location);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return; // it has ended already, and the page says so
    toast({ text: failed });
  }
}

export function AccountMenu() {
  const texts = useUiTexts();
  const { email, displayName, mailbox } = useSession();
  const { language, choose } = useLanguage();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = { light: texts.light, dark: texts.dark, auto: texts.system };
  return (
    <div className="account">
      <Menu
        start
        label={`${texts.account}: ${displayName ?? email}`}
        className="plain rail-search"
        button={
          <>
            <Icon name="person" /> <span className="cut">{displayName ?? email}</span>
          </>
        }
      >
        <h2>{email}</h2>
        <hr />
        <h2>{texts.appearance}</h2>
        {(Object.keys(schemes) as (keyof typeof schemes)[]).map((scheme) => (
          <MenuItem key={scheme} checked={colorScheme === scheme} onChoose={() => setColorScheme(scheme)}>
            <Icon name={colorScheme === scheme ? 'check' : scheme === 'dark' ? 'moon' : 'sun'} /> {schemes[scheme]}
          </MenuItem>
        ))}
        <hr />
        <h2>{texts.language}</h2>
        {(Object.keys(languages) as Language[]).map((one) => (
          <MenuItem key={one} checked={language === one} onChoose={() => choose(one)}>
            <span lang={one}>{languages[one]}</span>
          </MenuItem>
        ))}
        <hr />
        {mailbox !== undefined && (
          <MenuItem href={mailbox}>
            <Icon name="mail" /> {texts.mailbox}
          </MenuItem>
        )}
        <MenuItem onChoose={() => void logOut(texts.problemNoAnswer)}>
          <Icon name="external" /> {texts.logOut}
        </MenuItem>
      </Menu>
    </div>
  );
}
