/** The form of a node, beside the drawing: what it asks or answers, and where it leads. */
import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import type { Vocabulary } from '../../../editor/completion.ts';
import { Icon, SidePanel } from '../../../ui/index.ts';
import { changeCondition, mayBeCalled, mayConnect, type NodePart } from './change.ts';
import { ConditionFields } from './condition-form.tsx';
import { useActions } from './context.ts';
import { ChoiceField, LinesField, TextField } from './fields.tsx';
import { edgeOf, fieldOf, type GraphNode, nodeOf, type PolicyGraph, type Problem, type Way, waysOf } from './model.ts';

export type FormProps = {
  graph: PolicyGraph;
  node: GraphNode;
  problems: readonly Problem[];
  vocabulary: Vocabulary;
  /** @param field what is being typed in: one step of undo */
  onChange: (part: NodePart, field?: string) => void;
  onRename: (name: string) => void;
  onConnect: (way: Way, to: string | undefined) => void;
  onRemove: () => void;
  onClose: () => void;
};

export function NodeForm(props: FormProps) {
  const { node, onRemove, onClose, problems } = props;
  const { t, readOnly, summary } = useActions();
  const box = useRef<HTMLDivElement>(null);
  const kind = node.type === 'start' ? t.start : node.type === 'condition' ? t.question : t.outcome;
  // biome-ignore lint/correctness/useExhaustiveDependencies: when another node is opened
  useEffect(() => box.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [node.id]);
  return (
    <SidePanel title={kind} label={t.open(summary(node))} onClose={onClose} onEscape="closes">
      <div className="stack" ref={box}>
        {problems.length > 0 && (
          <ul className="graph-problems" role="alert">
            {problems.map((problem) => (
              <li key={problem.pointer + problem.detail}>
                {fieldOf(problem) !== '' && <code>{fieldOf(problem)}</code>} {problem.detail}
              </li>
            ))}
          </ul>
        )}
        {node.type === 'start' && <p>{t.startAbout}</p>}
        {node.type === 'condition' && <Question {...props} />}
        {node.type === 'outcome' && <Outcome {...props} />}
        <Ways {...props} />
        <Name key={node.id} {...props} />
        {node.type !== 'start' && !readOnly && (
          <div>
            <Button variant="default" leftSection={<Icon name="trash" />} onClick={onRemove}>
              {t.remove}
            </Button>
          </div>
        )}
      </div>
    </SidePanel>
  );
}

/** What the server says of a field of the node; a list's entries count as the list. */
const errorIn = (problems: readonly Problem[], prefix: string) => (field: string) =>
  problems.find((problem) => {
    const at = fieldOf(problem);
    if (!at.startsWith(prefix) || !/^\/graph\/nodes\//.test(problem.pointer)) return false;
    const rest = at.slice(prefix.length).replace(/^\//, '');
    return rest === field || (field !== '' && rest.startsWith(`${field}/`));
  })?.detail;

function Question({ node, problems, vocabulary, onChange }: FormProps) {
  const { t, readOnly } = useActions();
  const { conditions = [], match = 'all' } = node;
  const isOne = conditions.length === 1;
  return (
    <>
      {(!isOne || match !== 'all') && (
        <ChoiceField
          {...{ label: t.match, value: match, choices: t.matches, readOnly }}
          onChange={(next) => onChange({ match: next })}
        />
      )}
      {conditions.map((condition, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: conditions have no name of their own
        <fieldset key={index} className="graph-condition">
          <legend>{t.conditionNumber(index + 1)}</legend>
          <ConditionFields
            {...{ condition, readOnly, t, vocabulary, errorOf: errorIn(problems, `conditions/${index}`) }}
            onChange={(next) => onChange(changeCondition(node, index, next), typedIn(index, condition, next))}
          />
          {!readOnly && !isOne && (
            <button
              type="button"
              className="plain graph-link"
              onClick={() => onChange(changeCondition(node, index, undefined))}
            >
              <Icon name="trash" size={14} /> {t.removeCondition(index + 1)}
            </button>
          )}
        </fieldset>
      ))}
      {!readOnly && (
        <div className="row">
          <Button
            {...{ variant: 'default', size: 'compact-sm', leftSection: <Icon name="plus" /> }}
            onClick={() => onChange({ conditions: [...conditions, { type: 'relationship' }] })}
          >
            {t.addCondition}
          </Button>
          {isOne && match === 'all' && (
            <button type="button" className="plain graph-link" onClick={() => onChange({ match: 'none' })}>
              {t.not('…')}
            </button>
          )}
        </div>
      )}
    </>
  );
}

/** The one field that differs, where its value goes on; a choice is a step of its own. */
function typedIn(index: number, before: object, after: object): string | undefined {
  const [old, now] = [before, after] as Record<string, unknown>[];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => JSON.stringify(old?.[name]) !== JSON.stringify(now?.[name]));
  const [name = ''] = changed;
  const isChoice = ['type', 'target', 'operator', 'whose', 'weekdays'].includes(name);
  return changed.length === 1 && !isChoice ? `${index} ${name}` : undefined;
}

function Outcome({ node, problems, onChange }: FormProps) {
  const { t, readOnly } = useActions();
  const errorOf = errorIn(problems, '');
  return (
    <>
      <ChoiceField
        {...{ label: t.outcome, value: node.outcome ?? 'deny', choices: { allow: t.allow, deny: t.deny }, readOnly }}
        onChange={(outcome) => onChange({ outcome })}
      />
      <TextField
        {...{ label: t.reason, value: node.reason, readOnly, error: errorOf('reason') }}
        onChange={(reason) => onChange({ reason }, 'reason')}
      />
      <LinesField
        {...{ label: t.obligations, about: t.obligationsAbout, values: node.obligations, readOnly }}
        error={errorOf('obligations')}
        onChange={(obligations) => onChange({ obligations }, 'obligations')}
      />
    </>
  );
}

/** Edges by keyboard: where each answer leads. */
function Ways({ graph, node, onConnect }: FormProps) {
  const { t, readOnly, summary } = useActions();
  const ways = waysOf(node);
  if (ways.length === 0) return null;
  return (
    <fieldset className="graph-condition">
      <legend>{t.waysOn}</legend>
      {ways.map((way) => {
        const to = edgeOf(graph, way)?.to;
        const targets = graph.nodes.filter(({ id }) => id === to || mayConnect(graph, way, id));
        return (
          <ChoiceField
            key={String(way.on)}
            {...{ label: t.wayFor[way.on ?? 'none'], readOnly, value: nodeOf(graph, to)?.id ?? '' }}
            choices={[['', t.denies], ...targets.map((one) => [one.id, `${summary(one)} (${one.id})`] as const)]}
            onChange={(next) => onConnect(way, next === '' ? undefined : next)}
          />
        );
      })}
    </fieldset>
  );
}

function Name({ graph, node, onRename }: FormProps) {
  const { t, readOnly } = useActions();
  const [name, setName] = useState(node.id);
  const isGood = mayBeCalled(graph, node.id, name);
  const done = () => isGood && name !== node.id && onRename(name);
  return (
    <TextInput
      {...{ label: t.id, description: t.idAbout, value: name, readOnly, error: isGood ? undefined : t.idTaken }}
      onChange={(event) => setName(event.currentTarget.value)}
      onBlur={done}
      onKeyDown={(event) => event.key === 'Enter' && done()}
    />
  );
}
