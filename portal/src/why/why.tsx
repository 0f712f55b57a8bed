/**
 * Why a decision came out as it did: one sentence, then question → policy → answer, below them the relationships and consents that were
 * read. What is lit made the answer; what is dashed is missing.
 */
import './why.css';
import { useTexts } from '../core/texts.ts';
import { Icon } from '../ui/icons.tsx';
import { Consents, Entities, Fact, Relations } from './facts.tsx';
import { entityText, factText, type Why as Model, whyOf } from './model.ts';
import { LineLink, type Links, Rules } from './rules.tsx';
import type { Answer, Explanation } from './schema.ts';
import type { Texts } from './texts.en.ts';
import { texts } from './texts.ts';

type Props = {
  answer: Answer;
  explain: Explanation;
  links?: Links;
};

/** The sentence without its first word, which is the outcome. */
export function sentenceOf(model: Model, answer: Answer, explain: Explanation, t: Texts): string {
  const policy = explain.policy ?? t.policy;
  if (explain.failure && explain.failure.reason !== 'outcome_undefined') return t.failed(explain.failure.detail);
  if (model.outcome === 'deny') {
    const fact = model.advice?.facts;
    if (fact?.length === 1) return t.missingFact(fact.map(factText).join());
    if (fact !== undefined) return t.missingFacts(fact.map(factText).join('”, “'));
    if (explain.failure) return t.undefined(policy);
    if (explain.whyNot === undefined) return `${t.policySaid(policy)}.`;
    const isDrawn = explain.path !== undefined;
    if (typeof answer.reason !== 'string' || answer.reason === '')
      return isDrawn ? t.drawnDenies(policy) : t.noneHeld(policy);
    const reason = /[.!?]$/.test(answer.reason) ? answer.reason : `${answer.reason}.`;
    return isDrawn ? t.drawnDeniesAs(reason, policy) : t.noneHeldAs(reason, policy);
  }
  if (model.outcome === 'other') return t.answers(policy);
  const [rule] = explain.rules;
  const because = explain.path ? t.pathHeld(policy) : rule ? t.ruleHeld(policy, rule.line) : t.policySaid(policy);
  const [subject, resource] = [model.subject, model.resource].map((one) => one && entityText(one));
  // A case may name neither: then the rule is all that there is to say.
  if (subject === undefined && resource === undefined) return `${because}.`;
  return t.because(subject ?? t.somebody, model.action ?? policy, resource ?? t.something, because);
}

export function Why({ answer, explain, links }: Props) {
  const t = useTexts(texts);
  const model = whyOf(answer, explain);
  const word = { allow: t.allowed, deny: t.denied, other: t.answered }[model.outcome];
  const color = { allow: 'var(--ok)', deny: 'var(--bad)', other: 'inherit' }[model.outcome];
  const icon = { allow: 'allow', deny: 'deny', other: 'info' } as const;
  const { advice } = model;
  // Support is not given the facts.
  const isHidden = explain.facts === undefined;
  return (
    <article className="why">
      <p className="why-sentence">
        <span style={{ color }}>
          <Icon name={icon[model.outcome]} size={20} />
        </span>
        <span>
          <strong style={{ color }}>{word}</strong>: {sentenceOf(model, answer, explain, t)}
        </span>
      </p>
      <div className="why-lanes">
        <section className="card to">
          <h3>{t.question}</h3>
          <dl>
            <dt>{t.who}</dt>
            <dd>{model.subject ? <Entities of={model.subject} /> : isHidden ? t.hidden : t.somebody}</dd>
            <dt>{t.action}</dt>
            <dd>{model.action ?? (isHidden ? t.hidden : t.noAction)}</dd>
            <dt>{t.on}</dt>
            <dd>{model.resource ? <Entities of={model.resource} /> : isHidden ? t.hidden : t.something}</dd>
          </dl>
        </section>
        <section className="card to why-policy">
          <h3>
            {explain.policy ?? t.policy} {explain.revision !== undefined && `· ${t.revision(explain.revision)}`}
          </h3>
          <Rules explain={explain} links={links} />
        </section>
        <section className={`card why-${model.outcome}`}>
          <h3>{t.answer}</h3>
          <p>
            <strong>{typeof answer.outcome === 'string' ? answer.outcome : JSON.stringify(answer.outcome)}</strong>
          </p>
          {(answer.reason ?? answer.obligations) !== undefined && (
            <dl>
              {answer.reason !== undefined && (
                <>
                  <dt>{t.reason}</dt>
                  <dd className="mono">
                    {typeof answer.reason === 'string' ? answer.reason : JSON.stringify(answer.reason)}
                  </dd>
                </>
              )}
              {answer.obligations !== undefined && (
                <>
                  <dt>{t.obligations}</dt>
                  <dd className="mono">{JSON.stringify(answer.obligations)}</dd>
                </>
              )}
            </dl>
          )}
        </section>
        <div className="why-facts">
          <Relations found={model.relations} missing={model.missingRelations} isHidden={isHidden} />
          <Consents found={model.consents} missing={model.missingConsents} isHidden={isHidden} />
        </div>
      </div>
      {advice && (
        <section className="card">
          <h3>{t.wouldAllow}</h3>
          <ul>
            {advice.facts.map((one) => (
              <li key={one.text} className="why-item missing">
                <Fact of={one} />
              </li>
            ))}
          </ul>
          <LineLink policy={explain.policy} line={advice.rule.line} file={advice.rule.file} links={links} />
        </section>
      )}
    </article>
  );
}
