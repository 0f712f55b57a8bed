/** The fields of a condition, each kind with its own. */
import type { ReactNode } from 'react';
import type { Vocabulary } from '../../../editor/completion.ts';
import { given } from './change.ts';
import { ChoiceField, LinesField, NumberField, readValue, showValue, TextField } from './fields.tsx';
import type { Condition } from './model.ts';
import type { Texts } from './texts.en.ts';

export type ConditionProps = {
  condition: Condition;
  readOnly: boolean;
  t: Texts;
  vocabulary: Vocabulary;
  /** What is wrong with a field of it. */
  errorOf: (field: string) => string | undefined;
  onChange: (condition: Condition) => void;
};
type Part = { [K in keyof Condition]?: Condition[K] | undefined };

const paths = [
  ...['subject.type', 'subject.id', 'resource.type', 'resource.id', 'resource.owner', 'context.ip', 'action', 'tenant'],
  ...['invitation.contactMatches'],
];

/** What a condition of a kind begins with. */
export function newCondition(type: Condition['type']): Condition {
  if (type === 'attribute') return { type, operator: 'eq' };
  if (type !== 'time') return { type };
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { type, fromTime: '09:00', toTime: '17:00', timezone: timeZone };
}

export function ConditionFields(props: ConditionProps) {
  const { condition, readOnly, t, onChange } = props;
  const Fields = kinds[condition.type];
  return (
    <>
      <ChoiceField
        {...{ label: t.type, value: condition.type, choices: t.types, readOnly }}
        onChange={(type) => onChange(newCondition(type))}
      />
      <Fields {...props} />
    </>
  );
}

const kinds: { [K in Condition['type']]: (props: ConditionProps) => ReactNode } = {
  relationship: Relationship,
  attribute: Attribute,
  consent: Consent,
  invitation: Invitation,
  time: Time,
  ipRange: IpRange,
};

/** Of a text field: label, value, what is wrong, and how it changes the condition. */
const text = (
  { condition, readOnly, errorOf, onChange }: ConditionProps,
  field:
    | 'relationshipType'
    | 'targetType'
    | 'targetId'
    | 'path'
    | 'valuePath'
    | 'name'
    | 'after'
    | 'before'
    | 'fromTime'
    | 'toTime'
    | 'timezone',
) => ({
  ...{ readOnly, value: condition[field], error: errorOf(field) },
  onChange: (value: string | undefined) => onChange(given({ ...condition, [field]: value })),
});
const changing =
  ({ condition, onChange }: ConditionProps) =>
  (part: Part) =>
    onChange(given({ ...condition, ...part }) as Condition);

function Relationship(props: ConditionProps) {
  const { condition, readOnly, t, vocabulary } = props;
  const { target = 'resource', targetType } = condition;
  const change = changing(props);
  return (
    <>
      <TextField {...text(props, 'relationshipType')} label={t.relationshipType} names={vocabulary.relationships} />
      <ChoiceField
        {...{ label: t.target, value: target, choices: t.targets, readOnly }}
        onChange={(next) =>
          change({
            target: next === 'resource' ? undefined : next,
            targetType: next === 'resource' ? undefined : targetType,
            targetId: next === 'entity' ? condition.targetId : undefined,
          })
        }
      />
      {target !== 'resource' && (
        <TextField {...text(props, 'targetType')} label={t.targetType} names={vocabulary.types} />
      )}
      {target === 'entity' && <TextField {...text(props, 'targetId')} label={t.targetId} />}
    </>
  );
}

type ValueKind = keyof Texts['valueKinds'];
const firstValues = { string: undefined, number: 0, boolean: true } as const;

function kindOf({ value, valuePath }: Condition): ValueKind {
  if (valuePath !== undefined) return 'path';
  return typeof value === 'number' || typeof value === 'boolean' ? (typeof value as 'number' | 'boolean') : 'string';
}

function Attribute(props: ConditionProps) {
  const { condition, readOnly, t, errorOf } = props;
  const { operator = 'eq', value, values } = condition;
  const change = changing(props);
  // A comparison of another shape drops what the one before was compared with.
  const compare = (next: typeof operator) => {
    const isKept = next !== 'exists' && (next === 'in') === (operator === 'in');
    change({ operator: next, ...(!isKept && { value: undefined, values: undefined, valuePath: undefined }) });
  };
  const kind = kindOf(condition);
  const asKind = (next: ValueKind) =>
    next === 'path'
      ? change({ value: undefined, values: undefined, valuePath: 'subject.id' })
      : change({ valuePath: undefined, value: operator === 'in' ? undefined : firstValues[next] });
  const { path, ...scalars } = t.valueKinds;
  const choices = operator === 'in' ? { string: t.values, path } : { ...scalars, path };
  return (
    <>
      <TextField {...text(props, 'path')} label={t.path} names={paths} placeholder="subject.age" />
      <ChoiceField
        {...{ label: t.operator, value: operator, choices: t.operators, readOnly, error: errorOf('operator') }}
        onChange={compare}
      />
      {operator !== 'exists' && (
        <ChoiceField<ValueKind>
          {...{ label: t.valueKind, value: kind, readOnly }}
          choices={Object.entries(choices) as [ValueKind, string][]}
          onChange={asKind}
        />
      )}
      {operator === 'exists' ? null : kind === 'path' ? (
        // An empty one is not dropped: it would be a comparison with a text.
        <TextField
          {...{ ...text(props, 'valuePath'), label: t.valuePath, names: paths }}
          onChange={(next = '') => change({ valuePath: next })}
        />
      ) : operator === 'in' ? (
        <LinesField<unknown>
          {...{ label: t.values, about: t.valuesAbout, values, readOnly, show: showValue, read: readValue }}
          error={errorOf('values')}
          onChange={(list) => change({ values: list })}
        />
      ) : (
        <Value {...{ props, kind, value }} onChange={(next) => change({ value: next })} />
      )}
    </>
  );
}

type ValueProps = { props: ConditionProps; kind: ValueKind; value: unknown; onChange: (value: unknown) => void };

function Value({ props: { t, readOnly, errorOf }, kind, value, onChange }: ValueProps) {
  const common = { label: t.value, readOnly, error: errorOf('value') };
  if (kind === 'number')
    return <NumberField {...common} value={Number(value)} wrong={t.notANumber} onChange={onChange} />;
  if (kind === 'boolean')
    return (
      <ChoiceField
        {...{ ...common, value: String(value) as 'true' | 'false', choices: { true: 'true', false: 'false' } }}
        onChange={(next) => onChange(next === 'true')}
      />
    );
  return <TextField {...common} value={value as string | undefined} onChange={onChange} />;
}

function Consent(props: ConditionProps) {
  const { condition, readOnly, t, vocabulary } = props;
  return (
    <>
      <TextField {...text(props, 'name')} label={t.consent} names={vocabulary.consents} />
      <ChoiceField
        {...{ label: t.whose, value: condition.whose ?? 'subject', choices: t.whoses, readOnly }}
        onChange={(whose) => changing(props)({ whose: whose === 'subject' ? undefined : whose })}
      />
    </>
  );
}

function Invitation(props: ConditionProps) {
  const { t, vocabulary } = props;
  return (
    <TextField
      {...{ ...text(props, 'relationshipType'), label: t.offers, about: t.offersAbout }}
      names={vocabulary.relationships}
    />
  );
}

type Day = keyof Texts['days'];

function Time(props: ConditionProps) {
  const { condition, readOnly, t, errorOf } = props;
  const { weekdays = [] } = condition;
  const toggle = (day: Day) => {
    const names = Object.keys(t.days) as Day[];
    const next = names.filter((one) => (one === day) !== weekdays.includes(one));
    changing(props)({ weekdays: next.length > 0 ? next : undefined });
  };
  return (
    <>
      {errorOf('') !== undefined && <p className="policy-wrong">{errorOf('')}</p>}
      <div className="policy-pair">
        <TextField {...text(props, 'fromTime')} label={t.fromTime} placeholder="22:00" />
        <TextField {...text(props, 'toTime')} label={t.toTime} placeholder="06:00" />
      </div>
      <fieldset className="graph-days">
        <legend>{t.weekdays}</legend>
        {(Object.entries(t.days) as [Day, string][]).map(([day, name]) => (
          <label key={day}>
            <input type="checkbox" checked={weekdays.includes(day)} disabled={readOnly} onChange={() => toggle(day)} />{' '}
            {name}
          </label>
        ))}
      </fieldset>
      <TextField {...text(props, 'timezone')} label={t.timezone} names={zones} placeholder="Europe/Amsterdam" />
      <TextField {...{ ...text(props, 'after'), label: t.after, about: t.instantAbout }} />
      <TextField {...{ ...text(props, 'before'), label: t.before, about: t.instantAbout }} />
    </>
  );
}
const zones = Intl.supportedValuesOf('timeZone');

function IpRange(props: ConditionProps) {
  const { condition, readOnly, t, errorOf } = props;
  return (
    <>
      <LinesField
        {...{ label: t.ranges, values: condition.ranges, readOnly, error: errorOf('ranges') }}
        onChange={(ranges) => changing(props)({ ranges })}
      />
      <TextField {...text(props, 'path')} label={t.ipPath} names={paths} placeholder="context.ip" />
    </>
  );
}
