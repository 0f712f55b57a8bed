/** What a manifest owns: whose it is, the manifest to copy, and a change of it as a text to apply. One piece for all kinds. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { readOnce } from '../core/query.ts';
import { mayDo, useTenant } from '../core/session.ts';
import { useTexts } from '../core/texts.ts';
import { CodeDialog, Icon, ManagedBy, ProblemAlert } from '../ui/index.ts';
import type { Of, Spec } from './manifest.ts';
import { readManifest, storedYaml } from './read.ts';
import { texts } from './texts.ts';

const SpecEditor = lazy(() => import('./spec-editor.tsx'));
const ChangeDialog = lazy(() => import('./change-dialog.tsx'));

/** `manifest/kind/name`, for keys of what is kept. */
const keyOf = (of: Of) => `${of.kind}/${'name' in of ? of.name : of.manifest}`;

type Opening = { isOpen: boolean; onOpen: (isOpen: boolean) => void };
type Props = {
  of: Of;
  /** managedBy of the object: `api`, or a manifest. */
  owner: string;
  /** The page has a form of its own for the change. Absent: the spec is changed as YAML. */
  form?: Opening;
  /** What a role must be allowed to write the object itself. @default edit */
  may?: 'edit' | 'admin';
  /** Whether the role may read the manifest. */
  isReadable?: boolean;
};

export function Owned({ of, owner, form, may = 'edit', isReadable = true }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isCopying, setCopying] = useState(false);
  const [isEditing, setEditing] = useState(false);
  if (owner === 'api') return null;
  const { isOpen, onOpen } = form ?? { isOpen: isEditing, onOpen: setEditing };
  return (
    <>
      <div className="chips" style={{ marginBottom: 0 }}>
        <ManagedBy owner={owner} />
        {isReadable && (
          <button type="button" className="plain chip" onClick={() => setCopying(true)}>
            <Icon name="copy" /> {t.copy}
          </button>
        )}
        {mayDo(tenant.role, may) && (
          <button type="button" className="plain chip" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
            <Icon name="edit" /> {isOpen ? t.close : t.open}
          </button>
        )}
      </div>
      {isCopying && <CodeDialog label={t.copy} code={storedYaml(api, of)} onClose={() => setCopying(false)} />}
      {isEditing && form === undefined && (
        <Suspense fallback={<span className="skeleton" />}>
          <SpecEditor key={keyOf(of)} of={of} draftKey={`${tenant.code}/manifest/${keyOf(of)}`} />
        </Suspense>
      )}
    </>
  );
}

type ShowProps = {
  of: Of;
  /** The spec as it is to be, from what is stored. */
  spec: (stored: Spec) => Spec;
  isDisabled?: boolean;
};

/** For pages with a form of their own: the change that was made in it. */
export function ShowChange({ of, spec, isDisabled = false }: ShowProps) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isShown, setShown] = useState(false);
  const found = useQuery({
    queryKey: ['manifests', tenant.code, 'change', keyOf(of)],
    queryFn: ({ signal }) => readManifest(api, of, signal),
    ...readOnce,
    enabled: isShown,
  });
  return (
    <>
      <Button disabled={isDisabled} loading={isShown && found.isFetching} onClick={() => setShown(true)}>
        {t.show}
      </Button>
      {isShown && found.error && <ProblemAlert error={found.error} onRetry={() => void found.refetch()} />}
      {isShown && found.data && (
        <Suspense fallback={<span className="skeleton" />}>
          <ChangeDialog stored={found.data} spec={spec(found.data.manifest.spec)} onClose={() => setShown(false)} />
        </Suspense>
      )}
    </>
  );
}
