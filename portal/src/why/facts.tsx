/** The lanes below the policy: relationships and consents, of which those light up that matter, and those that are missing are dashed. */
import { segment } from '../core/api.ts';
import { useTexts } from '../core/texts.ts';
import { isResourceType, useModel } from '../model/load.ts';
import { Relation as Related } from '../model/names.tsx';
import { Link } from '../ui/link.tsx';
import { State } from '../ui/page.tsx';
import { entityText, type MissingRelation, type PersonConsent, type Relation, stepText } from './model.ts';
import { Add, Path } from './path.tsx';
import type { Entity, MissingFact } from './schema.ts';
import { texts } from './texts.ts';

const shownMax = 8;

/** A person has a page; of a resource its relationships are shown. */
export function Entities({ of }: { of: Entity | undefined }) {
  const model = useModel().data;
  if (of?.type === undefined || of.id === undefined || of.id === '***')
    return <span className="mono">{of === undefined ? '' : entityText(of)}</span>;
  const [type, id] = [segment(of.type), segment(of.id)];
  return (
    <Link
      className="mono"
      to={isResourceType(model, of.type) ? `/model/relationships?type=${type}&id=${id}` : `/people/${type}/${id}`}
    >
      {entityText(of)}
    </Link>
  );
}

/** A link by its ends; the server's words for anything else. */
export function Fact({ of: { relationship, text } }: { of: MissingFact }) {
  if (relationship?.relationshipType === undefined) return text;
  const { from, relationshipType, to } = relationship;
  return (
    <>
      <Entities of={from} /> <Related of={{ from, relationshipType, to }} /> <Entities of={to} />
    </>
  );
}

type Lane<T, M> = { found: readonly T[]; missing: readonly M[]; isHidden: boolean };

export function Relations({ found, missing, isHidden }: Lane<Relation, MissingRelation>) {
  const t = useTexts(texts);
  return (
    <section className="card why-relations">
      <h3>{t.relationships}</h3>
      {found.length + missing.length === 0 && <p className="dim">{isHidden ? t.hidden : t.noRelationships}</p>}
      <ul>
        {found.slice(0, shownMax).map((one) => (
          <li key={stepText(one)} className={one.lit ? 'why-item lit' : 'why-item'}>
            <Entities of={one.from} /> <Related of={one} /> <Entities of={one.to} />{' '}
            {one.lit && <State tone="ok">{t.found}</State>}
            {one.path && (
              <>
                <p className="dim">{t.through}</p>
                <Path of={one.path} />
              </>
            )}
          </li>
        ))}
        {missing.map((one) => (
          <li key={one.text} className="why-item missing">
            <Fact of={one} /> <State tone="bad">{t.missing}</State>{' '}
            {one.relationship?.relationshipType !== undefined && (
              <Add of={{ ...one.relationship, relationshipType: one.relationship.relationshipType }} />
            )}
            {one.paths.length > 0 && <p className="dim">{t.wouldInherit(one.paths.length)}</p>}
            {one.paths.map((path) => (
              <Path key={path.through.map(stepText).join()} of={path} />
            ))}
          </li>
        ))}
        {found.length > shownMax && <li className="dim">{t.more(found.length - shownMax)}</li>}
      </ul>
    </section>
  );
}

export function Consents({ found, missing, isHidden }: Lane<PersonConsent, MissingFact>) {
  const t = useTexts(texts);
  const named = (name: string | undefined, person: Entity | undefined) =>
    person === undefined ? (name ?? '') : t.consentOf(name ?? '', entityText(person));
  const isMissing = (one: PersonConsent) =>
    missing.some(({ consent }) => consent?.name === one.name && consent.subject?.id === one.person?.id);
  const shown = found.filter((one) => !isMissing(one));
  return (
    <section className="card why-consents">
      <h3>{t.consents}</h3>
      {shown.length + missing.length === 0 && <p className="dim">{isHidden ? t.hidden : t.noConsents}</p>}
      <ul>
        {shown.slice(0, shownMax).map((one) => (
          <li key={named(one.name, one.person)} className={one.sufficient ? 'why-item lit' : 'why-item missed'}>
            <Link to={`/consents/${encodeURIComponent(one.name)}`}>{named(one.name, one.person)}</Link> {one.version}{' '}
            <State tone={one.sufficient ? (one.status === 'grace' ? 'warn' : 'ok') : 'bad'}>
              {t.status[one.status] ?? one.status}
            </State>
          </li>
        ))}
        {missing.map((one) => (
          <li key={one.text} className="why-item missing">
            {named(one.consent?.name, one.consent?.subject)}{' '}
            <State tone="bad">{t.status[one.consent?.status ?? ''] ?? one.consent?.status}</State>
          </li>
        ))}
        {shown.length > shownMax && <li className="dim">{t.more(shown.length - shownMax)}</li>}
      </ul>
    </section>
  );
}
