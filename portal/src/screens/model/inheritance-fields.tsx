/** Through which other relationships it holds, too: only pairs that fit are offered, each as a sentence. */
import { useTexts } from '../../core/texts.ts';
import { useNames } from '../../model/names.tsx';
import { type Inheritance, isSameInheritance, type Model, pairsOf } from '../../model/shapes.ts';
import { sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';

type Props = { name: string; model: Model; through: Inheritance[]; onChange: (to: Inheritance[]) => void };

export function InheritanceFields({ name, model, through, onChange }: Props) {
  const t = useTexts(texts);
  const names = useNames(model);
  const pairs = pairsOf(name, model);
  // What is set stays offered, also where a form would not propose it.
  const offered = [...pairs, ...through.filter((one) => !pairs.some((pair) => isSameInheritance(pair, one)))];
  return (
    <fieldset>
      <legend>{t.inheritance}</legend>
      {offered.length === 0 && <p className="dim">{t.noPairs}</p>}
      {offered.map((pair) => {
        const isOn = through.some((one) => isSameInheritance(one, pair));
        return (
          <label key={`${pair.relationship} ${pair.from}`} className="check">
            <input
              type="checkbox"
              checked={isOn}
              onChange={() =>
                onChange(isOn ? through.filter((one) => !isSameInheritance(one, pair)) : [...through, pair])
              }
            />
            {sentenceOf(name, pair, t, names)}
          </label>
        );
      })}
    </fieldset>
  );
}
