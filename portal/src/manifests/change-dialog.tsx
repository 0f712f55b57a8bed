/** A change of what a manifest owns, as a text to apply, with what it changes. */
import { yaml } from '@codemirror/lang-yaml';
import { useTexts } from '../core/texts.ts';
import { Difference } from '../editor/difference.tsx';
import { CodeBlock, Dialog } from '../ui/index.ts';
import { changeOf } from './change.ts';
import type { Spec, Stored } from './manifest.ts';
import { texts } from './texts.ts';
import { yamlOf } from './yaml.ts';

const language = yaml();

type Props = { stored: Stored; spec: Spec; onClose: () => void };

export default function ChangeDialog({ stored, spec, onClose }: Props) {
  const t = useTexts(texts);
  const change = changeOf(stored, spec);
  return (
    <Dialog label={t.theChange} className="wide" onClose={onClose}>
      <div className="stack">
        <h2>{t.theChange}</h2>
        {change.of === 'nothing' ? (
          <p>{t.nothing}</p>
        ) : (
          <>
            <p>{(change.of === 'file' ? t.ofFile : t.ofKubernetes)(stored.managedBy)}</p>
            <CodeBlock code={change.text} />
            <Difference
              before={{ label: t.before, text: yamlOf(stored.manifest.spec) }}
              after={{ label: t.after, text: yamlOf(spec) }}
              language={language}
            />
          </>
        )}
      </div>
    </Dialog>
  );
}
