/** The definition as a manifest, with its texts. */
import { useState } from 'react';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Dialog, Icon, ProblemAlert } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { manifestOf } from './manifest.ts';
import { type Tree, withTexts } from './shapes.ts';
import { texts } from './texts.ts';

export function CopyManifest({ tree }: { tree: Tree }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [manifest, setManifest] = useState<string>();
  const [error, setError] = useState<unknown>();
  const read = () => {
    setError(undefined);
    withTexts(api, tree).then((whole) => setManifest(manifestOf(tenant.code, whole)), setError);
  };
  return (
    <>
      {error !== undefined && <ProblemAlert error={error} />}
      <button type="button" className="plain chip" onClick={read}>
        <Icon name="copy" /> {t.asManifest}
      </button>
      {manifest !== undefined && (
        <Dialog label={t.asManifest} onClose={() => setManifest(undefined)}>
          <div className="stack">
            <h2>{t.asManifest}</h2>
            <CodeBlock code={manifest} />
          </div>
        </Dialog>
      )}
    </>
  );
}
