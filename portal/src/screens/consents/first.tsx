import { useTexts } from '../../core/texts.ts';
import { PageHeader } from '../../ui/index.ts';
import { NoContent } from '../../ui/no-content.tsx';
import { texts } from './texts.ts';

export default function First() {
  const t = useTexts(texts);
  return (
    <>
      <PageHeader title={t.title} about={t.about} />
      <NoContent path="/definitions" />
    </>
  );
}
