/** One type beside the picture: its settings, who may make it, and what it is called elsewhere. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { segment } from '../../core/api.ts';
import { mayDo, useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import { Confirm, curl, Link, RelativeTime, ShowAs, SidePanel, State, toast } from '../../ui/index.ts';
import { useNames } from './display-names.tsx';
import { reloadModel } from './load.ts';
import { bodyOf } from './manifest.ts';
import { RelationshipTypeForm } from './relationship-type-form.tsx';
import { sentenceOf } from './sentences.ts';
import { type DisplayName, kindNames, type Model, partsOf, type Related, type Typed } from './shapes.ts';
import { texts } from './texts.ts';
import { TypeForm } from './type-form.tsx';

type Props = { of: Typed | Related; model: Model; onClose: () => void };

export function Details({ of, model, onClose }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isEditing, setEditing] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const { kind, spec, etag } = of;
  const path = `/${kind}/${segment(spec.name)}`;
  const owned = { kind: kindNames[kind], name: spec.name };
  const back = () => setEditing(false);
  if (isEditing)
    return of.kind === 'relationship-types' ? (
      <RelationshipTypeForm of={of} model={model} onClose={back} onDone={back} />
    ) : (
      <TypeForm of={of} onClose={back} onDone={back} />
    );
  const users = model.relationships.filter(({ spec: { name } }) =>
    [partsOf(name).from, partsOf(name).to].includes(spec.name),
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
          <ShowAs
            curl={curl(api.path(path), { method: 'PUT', body: bodyOf(kind, spec) })}
            manifest={storedYaml(api, owned)}
          />
        </p>
        <Owned of={owned} owner={spec.managedBy} form={{ isOpen: isEditing, onOpen: setEditing }} />
        {spec.displayNames !== undefined && <DisplayNames names={spec.displayNames} />}
        {of.kind === 'relationship-types' ? (
          <RelationshipFacts of={of} model={model} />
        ) : (
          <TypeFacts of={of} users={users} />
        )}
        <p className="dim">
          {t.changed(spec.updatedBy)} <RelativeTime at={spec.updatedAt} />
        </p>
        {spec.managedBy === 'api' && mayDo(tenant.role, 'edit') && (
          <p className="row">
            <Button variant="default" onClick={() => setEditing(true)}>
              {t.edit}
            </Button>
            <Button variant="default" onClick={() => setDeleting(true)}>
              {t.remove}
            </Button>
          </p>
        )}
      </div>
      {isDeleting && (
        <Confirm
          title={t.removeTitle(spec.name)}
          consequences={kind === 'relationship-types' ? t.removeRelationshipWhat : t.removeTypeWhat(users.length)}
          action={t.remove}
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await api.delete(path, { ifMatch: etag });
            toast({ text: t.removed(spec.name) });
            onClose();
            await reloadModel(tenant.code);
          }}
        />
      )}
    </SidePanel>
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
  const { tenant, api } = useTenant();
  const { data } = useQuery({
    queryKey: ['model', tenant.code, 'policies-of', name],
    queryFn: async ({ signal }) =>
      (await api.get<{ resources: string[] }>('/policies', { query: { q: name, limit: 200 }, signal })).data.resources,
  });
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
