/** One type beside the picture: its settings, who may make it, and what it is called elsewhere. */
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useGo } from '../../core/address.ts';
import { segment } from '../../core/api.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { useNames } from '../../model/names.tsx';
import {
  type DisplayName,
  type Inheritance,
  type Model,
  partsOf,
  type Related,
  type Typed,
} from '../../model/shapes.ts';
import { curl, Link, ManagedBy, RelativeTime, ShowAs, SidePanel, State } from '../../ui/index.ts';
import { bodyOf, manifestOf } from './manifest.ts';
import { mayInherit, type Picking } from './picking.ts';
import { RelationshipTypeForm } from './relationship-type-form.tsx';
import { RemoveType, usePoliciesOf, usersOf } from './remove.tsx';
import { sentenceOf } from './sentences.ts';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

type Props = {
  of: Typed | Related;
  model: Model;
  /** Through what it is to be inherited: the form is open, with it. */
  proposed?: Inheritance | undefined;
  /** Begins what is chosen in the picture. */
  onPick: (picking: Picking) => void;
  onClose: () => void;
};

export function Details({ of, model, proposed, onPick, onClose }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isEditing, setEditing] = useState(proposed !== undefined && of.spec.managedBy === 'api');
  const [isDeleting, setDeleting] = useState(false);
  const { kind, spec } = of;
  const path = `/${kind}/${segment(spec.name)}`;
  const back = () => setEditing(false);
  if (isEditing)
    return of.kind === 'relationship-types' ? (
      <RelationshipTypeForm of={of} proposed={{ through: proposed }} model={model} onClose={back} onDone={back} />
    ) : (
      <TypeForm of={of} onClose={back} onDone={back} />
    );
  return (
    <SidePanel
      title={<span className="mono">{spec.name}</span>}
      label={`${t.kindNames[kind]} ${spec.name}`}
      onClose={onClose}
    >
      <div className="stack">
        <p className="row">
          <State tone="none">{t.kindNames[kind]}</State>
          {spec.managedBy !== 'api' && <ManagedBy owner={spec.managedBy} />}
          <ShowAs
            curl={curl(api.path(path), { method: 'PUT', body: bodyOf(kind, spec) })}
            manifest={manifestOf(tenant.code, kind, spec)}
          />
        </p>
        {spec.displayNames !== undefined && <DisplayNames names={spec.displayNames} />}
        {of.kind === 'relationship-types' ? (
          <RelationshipFacts of={of} model={model} />
        ) : (
          <TypeFacts of={of} users={usersOf(spec.name, model)} />
        )}
        <p className="dim">
          {t.changed(spec.updatedBy)} <RelativeTime at={spec.updatedAt} />
        </p>
        {spec.managedBy !== 'api' && <p className="dim">{t.managedWhy}</p>}
        {mayDo(tenant.role, 'edit') && (
          <p className="row">
            {spec.managedBy === 'api' && (
              <>
                <Button variant="default" onClick={() => setEditing(true)}>
                  {t.edit}
                </Button>
                <Button variant="default" onClick={() => setDeleting(true)}>
                  {t.remove}
                </Button>
              </>
            )}
            <Begin of={of} model={model} onPick={onPick} onEdit={() => setEditing(true)} />
          </p>
        )}
      </div>
      {isDeleting && <RemoveType {...{ of, model }} onClose={() => setDeleting(false)} onDone={onClose} />}
    </SidePanel>
  );
}

type BeginProps = Pick<Props, 'of' | 'model' | 'onPick'> & { onEdit: () => void };

/** What is gone on with in the picture; where the panel covers it, in the form. */
function Begin({ of: { kind, spec }, model, onPick, onEdit }: BeginProps) {
  const t = useTexts(texts);
  const go = useGo();
  const isCovered = () => matchMedia('(max-width: 1099px)').matches;
  if (kind !== 'relationship-types') {
    const relate = () =>
      isCovered()
        ? go(`/model?make=relationship&from=${segment(spec.name)}`, { replace: true })
        : onPick({ kind: 'relate', from: spec.name });
    return (
      <Button variant="default" onClick={relate}>
        {t.relateFrom}
      </Button>
    );
  }
  if (spec.managedBy !== 'api' || !mayInherit(spec.name, model)) return null;
  const inherit = () => (isCovered() ? onEdit() : onPick({ kind: 'inherit', heir: spec.name, chosen: [] }));
  return (
    <Button variant="default" onClick={inherit}>
      {t.inheritThrough}
    </Button>
  );
}

function TypeFacts({ of: { spec }, users }: { of: Typed; users: readonly Related[] }) {
  const t = useTexts(texts);
  const attributes = Object.entries(spec.attributes ?? {});
  return (
    <>
      <h3>{t.attributes}</h3>
      {attributes.length === 0 ? (
        <p className="dim">{t.noAttributes}</p>
      ) : (
        <dl className="model-facts">
          {attributes.map(([name, { type, required }]) => (
            <Fact
              key={name}
              name={name}
              value={required ? `${t.valueTypes[type]}, ${t.required}` : t.valueTypes[type]}
            />
          ))}
        </dl>
      )}
      <h3>{t.relationshipTypes}</h3>
      <ul>
        {users.map((one) => (
          <li key={one.spec.name}>
            <Link to={`/model?open=${segment(`${one.kind}/${one.spec.name}`)}`} className="mono">
              {one.spec.name}
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

const Fact = ({ name, value }: { name: string; value: React.ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
);

function DisplayNames({ names }: { names: readonly DisplayName[] }) {
  const t = useTexts(texts);
  return (
    <>
      <h3>{t.displayNames}</h3>
      <dl className="model-facts">
        {names.map(({ language, name }) => (
          <Fact key={language} name={language} value={<span lang={language}>{name}</span>} />
        ))}
      </dl>
    </>
  );
}

function RelationshipFacts({ of: { spec }, model }: { of: Related; model: Model }) {
  const t = useTexts(texts);
  const names = useNames(model);
  const { from, relation, to } = partsOf(spec.name);
  const { invitation, inheritedThrough = [] } = spec;
  const isShared = invitation !== undefined && invitation.enabled !== false;
  return (
    <>
      <dl className="model-facts">
        <Fact name={t.from} value={<span className="mono">{from}</span>} />
        <Fact name={t.relation} value={<span className="mono">{relation}</span>} />
        <Fact name={t.to} value={<span className="mono">{to}</span>} />
        {spec.inverse !== undefined && <Fact name={t.inverse} value={spec.inverse} />}
        <Fact name={t.maxPerTarget} value={spec.maxPerTarget ?? t.noMaximum} />
      </dl>
      <h3>{t.inheritance}</h3>
      {inheritedThrough.length === 0 ? (
        <p className="dim">{t.notInherited}</p>
      ) : (
        <ul>
          {inheritedThrough.map((one) => (
            <li key={`${one.relationship} ${one.from}`}>{sentenceOf(spec.name, one, t, names)}</li>
          ))}
        </ul>
      )}
      <h3>{t.invitations}</h3>
      {!isShared ? (
        <p className="dim">{t.notShared}</p>
      ) : (
        <dl className="model-facts">
          <Fact name={t.ttl} value={<span className="mono">{invitation.ttl ?? 'P7D'}</span>} />
          <Fact name={t.binding} value={t.bindings[invitation.binding ?? 'none']} />
          <Fact name={t.maxUses} value={invitation.maxUses ?? 1} />
          {invitation.template !== undefined && <Fact name={t.template} value={invitation.template} />}
          {invitation.redirectUris?.length && <Fact name={t.redirectUris} value={invitation.redirectUris.join(' ')} />}
        </dl>
      )}
      <WhoMay name={spec.name} isShared={isShared} />
    </>
  );
}

/** By convention a policy of this name governs it; without one, users may not. */
function WhoMay({ name, isShared }: { name: string; isShared: boolean }) {
  const t = useTexts(texts);
  const { data } = usePoliciesOf(name);
  const acts = ['create', 'accept', 'read', 'resend', 'revoke'] as const;
  return (
    <>
      <h3>{t.whoMay}</h3>
      <p className="dim">{t.backEndsMay}</p>
      {isShared && (
        <dl className="model-facts">
          {acts.map((act) => {
            const policy = `${name}:invitation:${act}`;
            const has = data?.includes(policy);
            return (
              <Fact
                key={act}
                name={t.acts[act]}
                value={
                  has ? (
                    <Link to={`/policies/${segment(policy)}`}>{policy}</Link>
                  ) : act === 'accept' ? (
                    t.anyToken
                  ) : (
                    t.noPolicy(policy)
                  )
                }
              />
            );
          })}
        </dl>
      )}
    </>
  );
}
