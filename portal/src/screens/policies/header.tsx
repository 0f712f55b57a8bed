/** What a policy is, in one line, and what can be done with it as a whole. */
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Owned, storedYaml } from '../../manifests/index.ts';
import { curl, Icon, Link, RelativeTime, ShowAs, State } from '../../ui/index.ts';
import { manifestOf } from './manifest.ts';
import { RemovePolicy } from './remove.tsx';
import { Served } from './served.tsx';
import { useRefused, useServing } from './serving.ts';
import { bodyOf, type Draft, type Stored } from './shapes.ts';
import { texts } from './texts.ts';

export function HeaderAbout({ stored }: { stored: Stored | undefined }) {
  const t = useTexts(texts);
  const serving = useServing();
  const refused = useRefused();
  if (stored === undefined) return t.notStored;
  const { name, revision, managedBy, updatedAt, updatedBy } = stored.policy;
  const failing = refused.find(({ owner }) => owner === managedBy);
  return (
    <>
      {t.revisionNumber(revision)}, <RelativeTime at={updatedAt} /> · {updatedBy} · <Served by={serving?.(name)} />{' '}
      {failing && <State tone="bad">{t.keepsOlder}</State>} {failing?.message}
    </>
  );
}

type Props = {
  name: string;
  draft: Draft;
  owner: string;
  mayEdit: boolean;
  stored: Stored | undefined;
  isChanging: boolean;
  onChange: (isOn: boolean) => void;
};

export function HeaderActions({ name, draft, owner, mayEdit, stored, isChanging, onChange }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const isManaged = owner !== 'api';
  const of = { kind: 'Policy', name };
  const path = api.path(`/policies/${segment(name)}`);
  return (
    <>
      {stored && (
        <Link to={`/policies/${segment(name)}/revisions`} className="chip">
          <Icon name="clock" /> {t.revisions}
        </Link>
      )}
      <ShowAs
        curl={curl(path, mayEdit && !isManaged ? { method: 'PUT', body: bodyOf(draft) } : {})}
        manifest={isManaged ? storedYaml(api, of) : manifestOf(draft, { tenant: tenant.code, policy: name })}
      />
      <Owned of={of} owner={owner} form={{ isOpen: isChanging, onOpen: onChange }} />
      {stored && mayEdit && !isManaged && <RemovePolicy stored={stored} />}
    </>
  );
}
