/** Sending a pending invitation again, and revoking it. */
import { useState } from 'react';
import { segment } from '../../core/api.ts';
import { queryClient } from '../../core/query.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Confirm, ProblemAlert, toast } from '../../ui/index.ts';
import { type Item, text } from './shapes.ts';
import { texts } from './texts.ts';

export function InvitationActions({ item }: { item: Item }) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const [isRevoking, setRevoking] = useState(false);
  const [error, setError] = useState<unknown>();
  const path = `/sharing/invitations/${segment(item.invitationId ?? '')}`;
  const contact = item.contact ?? '';
  const reload = () => queryClient.invalidateQueries({ queryKey: ['people', tenant.code] });
  const resend = async () => {
    setError(undefined);
    try {
      await api.post(`${path}/resend`);
      toast({ text: t.resent(contact) });
      await reload();
    } catch (caught) {
      setError(caught);
    }
  };
  return (
    <>
      <button type="button" className="plain chip" onClick={resend}>
        {t.resend}
      </button>
      <button type="button" className="plain chip" onClick={() => setRevoking(true)}>
        {t.revokeInvitation}
      </button>
      {error !== undefined && <ProblemAlert error={error} />}
      {isRevoking && (
        <Confirm
          title={t.revokeTitle(contact, text(item.to ?? {}))}
          consequences={t.revokeWhat}
          action={t.revokeInvitation}
          onClose={() => setRevoking(false)}
          onConfirm={async () => {
            await api.delete(path);
            await reload();
            toast({ text: t.revoked(contact) });
          }}
        />
      )}
    </>
  );
}
