/** Why somebody may or may not: the policy's answer for what is stored now. */
import { useQuery } from '@tanstack/react-query';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { type Entity, text } from '../../model/shapes.ts';
import { Link, Notice, ProblemAlert } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { askStored, Why } from '../../why/index.ts';
import { texts } from './texts.ts';

type Props = { action: string; subject: Entity; resource: Entity };

export function WhyPath({ action, subject, resource }: Props) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const found = useQuery({
    queryKey: ['model', tenant.code, 'why', action, subject, resource],
    queryFn: ({ signal }) => askStored(api, action, { subject, resource }, { signal }),
  });
  if (found.error) return <ProblemAlert error={found.error} onRetry={() => found.refetch()} />;
  if (found.data === undefined) return <p role="status">{ui.loading}</p>;
  return (
    <section className="stack" aria-label={t.whyTitle(text(subject), text(resource))}>
      <h3>{t.whyTitle(text(subject), text(resource))}</h3>
      <Why answer={found.data} explain={found.data.explain} />
      <Notice>{t.whyAbout}</Notice>
      <Link to={`/policies/${segment(action)}?subject=${segment(text(subject))}&resource=${segment(text(resource))}`}>
        {t.openInPolicy}
      </Link>
    </section>
  );
}
