/** Through which other relationships it holds, too: only pairs that fit are offered, each as a sentence. */
import { useTexts } from '../../core/texts.ts';
import { useNames } from '../../model/names.tsx';
import { type Inheritance, type Model, partsOf } from '../../model/shapes.ts';
import { sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';

type Props = { name: string; model: Model; through: Inheritance[]; onChange: (to: Inheritance[]) => void };

export const same = (a: Inheritance, b: Inheritance) => a.relationship === b.relationship && a.from === b.from;

/** The pairs through which a relationship type could hold: from its begin to something, and from there to its end. */
export function pairsOf(name: string, model: Model): Inheritance[] {
  const { from, to } = partsOf(name);
  const all = model.relationships.map(({ spec }) => spec.name).filter((one) => one !== name);
  return all
    .filter((one) => partsOf(one).from === from)
    .flatMap((first) =>
      all
        .filter((one) => partsOf(one).from === partsOf(first).to && partsOf(one).to === to)
        .map((second): Inheritance => ({ relationship: first, from: second })),
    );
}

export function InheritanceFields({ name, model, through, onChange }: Props) {
  const t = useTexts(texts);
  const names = useNames(model);
  const pairs = pairsOf(name, model);
  // What is set stays offered, also where a form would not propose it.
  const offered = [...pairs, ...through.filter((one) => !pairs.some((pair) => same(pair, one)))];
  return (
    <fieldset>
      <legend>{t.inheritance}</legend>
      {offered.length === 0 && <p className="dim">{t.noPairs}</p>}
      {offered.map((pair) => {
        const isOn = through.some((one) => same(one, pair));
        return (
          <label key={`${pair.relationship} ${pair.from}`} className="check">
            <input
              type="checkbox"
              checked={isOn}
              onChange={() => onChange(isOn ? through.filter((one) => !same(one, pair)) : [...through, pair])}
            />
            {sentenceOf(name, pair, t, names)}
          </label>
        );
      })}
    </fieldset>
  );
}
