/** In place of a page that is not for the member's role. */
import type { Screen } from '../core/screen.ts';
import { may as mayOf, type Power } from '../core/session.ts';
import { useTexts } from '../core/texts.ts';
import { Notice, PageHeader } from './page.tsx';
import { useUiTexts } from './texts.ts';

export function MayNot({ may, texts }: { may: Power; texts: Screen['texts'] }) {
  const ui = useUiTexts();
  const { title } = useTexts(texts);
  return (
    <>
      <PageHeader title={title} />
      <Notice>
        <strong>{ui.mayNot}</strong>
        <p>{ui.mayNotWhy(mayOf[may].map((role) => ui.roles[role]))}</p>
      </Notice>
    </>
  );
}
