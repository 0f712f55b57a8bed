/** What people read in place of the names of types and relationship types, in their language. */
import { type ReactNode, useMemo } from 'react';
import { type Language, useLanguage } from '../core/texts.ts';
import { useModel } from './load.ts';
import { type DisplayName, type Model, partsOf, words } from './shapes.ts';

/** In the language, or else in English, or else any. */
function nameIn(names: readonly DisplayName[] | undefined, language: Language): string | undefined {
  const of = (wanted: string) => names?.find((one) => one.language.toLowerCase().split('-', 1)[0] === wanted);
  return (of(language) ?? of('en') ?? names?.[0])?.name;
}

/** What people read for a type, or for a relationship type (From:relationship:To). */
export type Names = (name: string) => string;

export function useNames(model: Model | undefined): Names {
  const { language } = useLanguage();
  return useMemo(() => {
    const all = [...(model?.types ?? []), ...(model?.relationships ?? [])];
    const shown = new Map(all.map(({ spec }) => [spec.name, nameIn(spec.displayNames, language)]));
    return (name) => shown.get(name) ?? words(partsOf(name).relation || name);
  }, [model, language]);
}

/** From:relationship:To of a relationship; an end may be masked. */
export const keyOf = ({ from, relationshipType, to }: Related) =>
  `${from.type ?? ''}:${relationshipType}:${to.type ?? ''}`;
export type Related = { from: { type?: string }; relationshipType: string; to: { type?: string } };

/** Those of the tenant. Until they are there, and where they are not, the words of the names. */
export const useTenantNames = (): Names => useNames(useModel().data);

function Shown({ shown, raw, isRaw }: { shown: ReactNode; raw: string; isRaw: boolean }) {
  if (isRaw) return <span className="mono">{raw}</span>;
  return (
    <>
      {shown} <span className="mono dim">{raw}</span>
    </>
  );
}

const isWords = (shown: string, name: string) => shown === name || shown === words(partsOf(name).relation);

/** The display name with the name of the API after it, where it differs. */
export function Named({ name, names }: { name: string; names: Names }) {
  const shown = names(name);
  return <Shown shown={shown} raw={name} isRaw={isWords(shown, name)} />;
}

/** What relates the two ends of a relationship. */
export function Relation({ of }: { of: Related }) {
  const names = useTenantNames();
  const name = keyOf(of);
  const shown = names(name);
  return <Shown shown={<strong>{shown}</strong>} raw={of.relationshipType} isRaw={isWords(shown, name)} />;
}
