/** Ends a relationship after a question; it can be made again. */
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { reloadModel } from '../../model/load.ts';
import { keyOf, useTenantNames } from '../../model/names.tsx';
import { type Relationship, text } from '../../model/shapes.ts';
import { Confirm, toast } from '../../ui/index.ts';
import { texts } from './texts.ts';

export function EndRelationship({ of, onClose }: { of: Relationship; onClose: () => void }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const { from, relationshipType, to, expiresAt } = of;
  const said = `${text(from)} ${useTenantNames()(keyOf(of))} ${text(to)}`;
  const list = `/actors/${segment(from.type)}/${segment(from.id)}/relationships`;
  const undo = async () => {
    try {
      await api.post(list, { body: { relationshipType, to, ...(expiresAt && { expiresAt }) } });
      await reloadModel(tenant.code);
    } catch {
      toast({ text: t.notUndone });
    }
  };
  return (
    <Confirm
      title={t.endTitle(said)}
      consequences={t.endWhat(text(from), text(to))}
      action={t.endIt}
      onClose={onClose}
      onConfirm={async () => {
        await api.delete(`${list}/${segment(relationshipType)}/${segment(to.type)}/${segment(to.id)}`);
        await reloadModel(tenant.code);
        toast({ text: t.ended(said), undo: () => void undo() });
      }}
    />
  );
}
