/** Who does not see records is told who does. */
import { useTexts } from '../../core/texts.ts';
import { Notice, PageHeader } from '../../ui/index.ts';
import { texts } from './texts.ts';

export function MayNot() {
  const t = useTexts(texts);
  return (
    <>
      <PageHeader title={t.title} about={t.about} />
      <Notice>
        <strong>{t.mayNot}</strong>
        <p>{t.mayNotWhy}</p>
      </Notice>
    </>
  );
}
