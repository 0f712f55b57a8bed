/** How a relationship is shared by invitation. */
import { useTexts } from '../../core/texts.ts';
import type { Invitation } from '../../model/shapes.ts';
import { texts } from './texts.ts';

type Props = { invitation?: Invitation; onChange: (to?: Invitation) => void };

export function InvitationFields({ invitation, onChange }: Props) {
  const t = useTexts(texts);
  const isOn = invitation !== undefined && invitation.enabled !== false;
  const set = (to: Invitation) => {
    const next = Object.entries({ ...invitation, ...to }).filter(([, value]) => value !== undefined);
    onChange(Object.fromEntries(next));
  };
  return (
    <fieldset>
      <legend>{t.invitations}</legend>
      <label className="check">
        <input type="checkbox" checked={isOn} onChange={(event) => set({ enabled: event.currentTarget.checked })} />
        {t.sharedByInvitation}
      </label>
      {isOn && (
        <>
          <label className="field">
            {t.ttl}
            <input
              placeholder="P7D"
              value={invitation.ttl ?? ''}
              onChange={(event) => set({ ttl: event.currentTarget.value || undefined })}
            />
            <small>{t.ttlAbout}</small>
          </label>
          <label className="field">
            {t.binding}
            <select
              value={invitation.binding ?? 'none'}
              onChange={(event) => set({ binding: event.currentTarget.value as 'none' | 'contact' })}
            >
              {(['none', 'contact'] as const).map((one) => (
                <option key={one} value={one}>
                  {t.bindings[one]}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            {t.maxUses}
            <input
              type="number"
              min={1}
              placeholder="1"
              value={invitation.maxUses ?? ''}
              onChange={(event) =>
                set({ maxUses: event.currentTarget.value === '' ? undefined : Number(event.currentTarget.value) })
              }
            />
          </label>
          <label className="field">
            {t.redirectUris}
            <input
              value={invitation.redirectUris?.join(' ') ?? ''}
              onChange={(event) => {
                const uris = event.currentTarget.value.split(' ');
                set({ redirectUris: event.currentTarget.value === '' ? undefined : uris });
              }}
            />
            <small>{t.redirectUrisAbout}</small>
          </label>
        </>
      )}
    </fieldset>
  );
}
