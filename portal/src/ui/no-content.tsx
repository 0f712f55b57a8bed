/** A screen that has no content yet says so, and how the API answers meanwhile. */
import { useTenant } from '../core/session.ts';
import { CodeBlock, curl } from './show-as.tsx';
import { useUiTexts } from './texts.ts';

export function NoContent({ path }: { path: string }) {
  const texts = useUiTexts();
  const { api } = useTenant();
  return (
    <section className="stack card">
      <p>
        {texts.comingNext} {texts.apiInstead}
      </p>
      <CodeBlock code={curl(api.path(path))} />
    </section>
  );
}
