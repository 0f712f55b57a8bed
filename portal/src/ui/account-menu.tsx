/** Who is logged in; language, light or dark, log out. */
import { api } from '../core/api.ts';
import { dropDrafts } from '../core/drafts.ts';
import { ApiProblem } from '../core/problem.ts';
import { useSession } from '../core/session.ts';
import { Icon } from './icons.tsx';
import { LooksItems } from './looks.tsx';
import { Menu, MenuItem } from './menu.tsx';
import { useUiTexts } from './texts.ts';
import { toast } from './toasts.tsx';

async function logOut(email: string, noAnswer: string): Promise<void> {
  try {
    const { data } = await api.post<{ location: string }>('/portal/session/end');
    dropDrafts(email);
    location.assign(data.location);
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 401) return; // it has ended already, and the page says so
    toast({ text: error instanceof ApiProblem ? error.title : noAnswer });
  }
}

export function AccountMenu() {
  const texts = useUiTexts();
  const { email, displayName, mailbox } = useSession();
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
        <LooksItems />
        <hr />
        {mailbox !== undefined && (
          <MenuItem href={mailbox}>
            <Icon name="mail" /> {texts.mailbox}
          </MenuItem>
        )}
        <MenuItem onChoose={() => void logOut(email, texts.problemNoAnswer)}>
          <Icon name="external" /> {texts.logOut}
        </MenuItem>
      </Menu>
    </div>
  );
}
