/** The path over which a relationship is inherited: each relationship on it links to itself, and what is missing is dashed. */
import { segment } from '../core/api.ts';
import { mayDo, useTenant } from '../core/session.ts';
import { useTexts } from '../core/texts.ts';
import { keyOf, useTenantNames } from '../model/names.tsx';
import { Link } from '../ui/link.tsx';
import { State } from '../ui/page.tsx';
import { entityText, stepText } from './model.ts';
import type { Entity, KnownPath, PathStep } from './schema.ts';
import { texts } from './texts.ts';

const hidden = '***';

/** Where a relationship is listed; undefined where it has no ends to look at. */
function placeOf({ from, relationshipType, to, missing }: PathStep): string | undefined {
  const known = [from, to].find(({ type, id }) => type !== undefined && id !== undefined && id !== hidden);
  if (known?.type === undefined || known.id === undefined) return undefined;
  const around = `/model/relationships?type=${segment(known.type)}&id=${segment(known.id)}`;
  const said = [from, to].map(({ type, id }) => `${type}/${id}`).join(` ${relationshipType} `);
  return missing ? around : `${around}&relationship=${segment(said)}`;
}

/** For what is missing and of which both ends are known: the form that makes it, filled in. */
export function Add({
  of: { from, relationshipType, to },
}: {
  of: { from: Entity; relationshipType: string; to: Entity };
}) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const ends = [from, to].map(({ type, id }) => (id === hidden || id === undefined ? undefined : type));
  if (ends.includes(undefined) || !mayDo(tenant.role, 'admin')) return null;
  const asked = { type: from.type, id: from.id, add: `${from.type}:${relationshipType}:${to.type}`, to: to.id };
  const query = Object.entries(asked).map(([name, value]) => `${name}=${segment(value ?? '')}`);
  return (
    <Link to={`/model/relationships?${query.join('&')}`} aria-label={t.addIt(stepText({ from, relationshipType, to }))}>
      {t.add}
    </Link>
  );
}

/** `any`: one of its type that is not known. */
function End({ of }: { of: Entity }) {
  const t = useTexts(texts);
  const names = useTenantNames();
  return of.id === undefined ? (
    <span className="why-end any">{t.anyOf(names(of.type ?? ''))}</span>
  ) : (
    <span className="why-end mono">{entityText(of)}</span>
  );
}

export function Path({ of: { through: steps, leftOut } }: { of: KnownPath }) {
  const t = useTexts(texts);
  const { tenant } = useTenant();
  const names = useTenantNames();
  const [first] = steps;
  if (first === undefined) return null;
  return (
    <div className="why-path">
      <End of={first.from} />
      <ol>
        {steps.map((step, i) => {
          const to = mayDo(tenant.role, 'records') ? placeOf(step) : undefined;
          const name = names(keyOf(step));
          // What is missing at the end is behind those that are not told.
          const isBehind = leftOut !== undefined && i > 0 && i === steps.length - 1 && step.missing;
          return (
            <li key={stepText(step)} className={step.missing ? 'missing' : undefined}>
              {isBehind && <span className="dim">{t.more(leftOut)}</span>}
              <span className="why-hop">
                {to === undefined ? (
                  <strong>{name}</strong>
                ) : (
                  <Link to={to} aria-label={`${entityText(step.from)} ${name} ${entityText(step.to)}`}>
                    {name}
                  </Link>
                )}{' '}
                {step.missing && <State tone="bad">{t.missing}</State>} {step.missing && <Add of={step} />}
              </span>
              <End of={step.to} />
            </li>
          );
        })}
        {leftOut !== undefined && !steps.at(-1)?.missing && <li className="dim">{t.more(leftOut)}</li>}
      </ol>
    </div>
  );
}
