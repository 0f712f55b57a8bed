/** The policy's lane: rules that held, and for a deny the first condition of each that did not. */
import type { ReactNode } from 'react';
import { useTexts } from '../core/texts.ts';
import { capital, sentenceOf } from '../screens/policies/graph/sentences.ts';
import { texts as cardTexts } from '../screens/policies/graph/texts.ts';
import { Icon } from '../ui/icons.tsx';
import { Link } from '../ui/link.tsx';
import { State } from '../ui/page.tsx';
import { conditionsOf, decidedByHolding } from './model.ts';
import { isAt, type Place } from './places.ts';
import type { Entity, Explanation, FailedCondition, WhyNotRule } from './schema.ts';
import type { Texts } from './texts.en.ts';
import { texts } from './texts.ts';

export type Links = {
  /** Where a line of the policy stands, below the tenant. */
  line?: (policy: string, line: number, file?: string) => string;
  /** A line of the policy or a node of its drawing was chosen. */
  onPlace?: (place: Place) => void;
  /** What is marked. */
  marked?: Place;
};
const defaultLine: NonNullable<Links['line']> = (policy, line, file) =>
  file === undefined
    ? `/policies/${encodeURIComponent(policy)}?line=${line}`
    : `/policies?library=${encodeURIComponent(file)}`;

type LinkProps = { policy?: string; line?: number; file?: string; links?: Links };

export function LineLink({ policy, line, file, links }: LinkProps) {
  const t = useTexts(texts);
  if (line === undefined) return null;
  const text = file === undefined ? t.line(line) : `${file}: ${t.line(line)}`;
  if (policy === undefined) return <span className="dim">{text}</span>;
  const choose = () => file === undefined && links?.onPlace?.({ line });
  return (
    <Link to={(links?.line ?? defaultLine)(policy, line, file)} onClick={choose}>
      {text}
    </Link>
  );
}

type NodeProps = { id: string; className?: string; links: Links | undefined; children: ReactNode };

function NodeLink({ id, className = '', links, children }: NodeProps) {
  const onPlace = links?.onPlace;
  if (onPlace === undefined) return <span className={className}>{children}</span>;
  const isMarked = isAt({ node: id }, links?.marked);
  return (
    <button
      type="button"
      className={`plain ${className}${isMarked ? ' marked' : ''}`}
      aria-current={isMarked ? 'true' : undefined}
      onClick={() => onPlace({ node: id })}
    >
      {children}
    </button>
  );
}

/** The class of an item, which is marked where it stands at what is marked elsewhere on the page. */
const itemAt = (told: Parameters<typeof isAt>[0], links: Links | undefined, className = '') =>
  isAt(told, links?.marked)
    ? { className: `${className} marked`.trim(), 'aria-current': 'true' as const }
    : { className };

type Props = { explain: Explanation; links?: Links };

export function Rules({ explain, links }: Props) {
  const t = useTexts(texts);
  const { policy, rules, path, whyNot, whyNotUnavailable, failure } = explain;
  const thing = (explain.input?.resource as Entity | undefined)?.type;
  return (
    <ol>
      {rules.map(({ line, text }) => (
        <li key={line} {...itemAt({ line, text }, links, 'why-item lit')}>
          <Said sign={<State tone="ok">{t.held}</State>} place={<LineLink {...{ policy, line, links }} />} />
          <code>{text}</code>
        </li>
      ))}
      {path && path.length > 0 && (
        <li className="why-item lit">
          <h3>{t.path}</h3>
          <div className="row">
            {path.map((id, index) => (
              <span key={id} className="row">
                {index > 0 && <Icon name="chevronRight" size={12} />}
                <NodeLink {...{ id, links, className: 'state accent' }}>{id}</NodeLink>
              </span>
            ))}
          </div>
        </li>
      )}
      {whyNot?.rules.map((rule, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rules of one answer, in the policy's order
        <Rule key={index} {...{ rule, policy, thing, links }} />
      ))}
      {failure && (
        <li className="why-item missed">
          <code>{failure.reason}</code> {failure.detail}
        </li>
      )}
      {whyNot?.truncated && <li className="dim">{t.truncated}</li>}
      {whyNotUnavailable !== undefined && <li className="dim">{whyNotUnavailable}</li>}
    </ol>
  );
}

const Said = ({ sign, place }: { sign: ReactNode; place: ReactNode }) => (
  <div className="row">
    {sign} {place}
  </div>
);

/** A node was answered; a rule held or did not. */
function saidOf({ node, answer, held, notReached }: WhyNotRule, t: Texts) {
  if (node !== undefined) return { tone: 'none' as const, word: answer === 'true' ? t.answeredYes : t.answeredNo };
  if (held) return { tone: 'ok' as const, word: t.held };
  return notReached ? { tone: 'none' as const, word: t.notReached } : { tone: 'bad' as const, word: t.notHeld };
}

type RuleProps = { rule: WhyNotRule; policy?: string; thing?: string; links?: Links };

function Rule({ rule, policy, thing, links }: RuleProps) {
  const t = useTexts(texts);
  const { line, file, node, text } = rule;
  const conditions = conditionsOf(rule);
  const { tone, word } = saidOf(rule, t);
  return (
    <li {...itemAt(rule, links, rule.held ? 'why-item' : 'why-item missed')}>
      <Said
        sign={<State tone={tone}>{word}</State>}
        place={
          node === undefined ? (
            <LineLink {...{ policy, line, file, links }} />
          ) : (
            <NodeLink {...{ id: node, links }}>
              <code>{node}</code>
            </NodeLink>
          )
        }
      />
      {node === undefined && <code>{text}</code>}
      {conditions.length > 0 && (
        <ul>
          {conditions.map((one, index) =>
            node === undefined ? (
              // biome-ignore lint/suspicious/noArrayIndexKey: conditions of one answer, in the policy's order
              <Condition key={index} condition={one} policy={policy} links={links} />
            ) : (
              // biome-ignore lint/suspicious/noArrayIndexKey: conditions of one node, in the drawing's order
              <DrawnCondition key={index} condition={one} rule={rule} thing={thing} />
            ),
          )}
        </ul>
      )}
    </li>
  );
}

/** The values that a condition read. */
function Read({ condition: { values, item } }: { condition: FailedCondition }) {
  const t = useTexts(texts);
  const read = [...values, ...(item?.values ?? [])];
  if (read.length === 0) return null;
  return (
    <details>
      <summary className="dim">{t.saw}</summary>
      {read.map((one) => (
        <div key={one.of}>
          <code>
            {one.of} = {one.value === undefined ? t.undefinedValue : JSON.stringify(one.value)}
            {one.cut && '…'}
          </code>
        </div>
      ))}
    </details>
  );
}

type DrawnProps = { condition: FailedCondition; rule: WhyNotRule; thing: string | undefined };

/** As its card says it. */
function DrawnCondition({ condition, rule, thing }: DrawnProps) {
  const t = useTexts(texts);
  const cards = useTexts(cardTexts);
  const { drawn, text } = condition;
  const isHeld = decidedByHolding(rule);
  return (
    <li>
      <div className="row">
        <State tone={isHeld ? 'ok' : 'bad'}>{isHeld ? t.held : t.notHeld}</State>
      </div>
      {drawn === undefined ? <code>{text}</code> : capital(sentenceOf(drawn, cards, thing).trim())}
      <Read condition={condition} />
    </li>
  );
}

function Condition({ condition, policy, links }: { condition: FailedCondition; policy?: string; links?: Links }) {
  const t = useTexts(texts);
  const { line, file, text, item, because } = condition;
  return (
    <li {...itemAt(condition, links)}>
      <div className="row">
        <span className="dim">{t.firstMissed}</span> <LineLink {...{ policy, line, file, links }} />
      </div>
      <code>{item === undefined ? text : `${text}\n${item.text}`}</code>
      <Read condition={condition} />
      {because && because.length > 0 && (
        <ul>
          {because.map((one, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rules of one answer, in the policy's order
            <Rule key={index} rule={one} policy={policy} links={links} />
          ))}
        </ul>
      )}
    </li>
  );
}
