/** Why somebody may or may not: the policy's answer for the relationships that there are now. */
import { useQuery } from '@tanstack/react-query';
import { segment } from '../../core/api.ts';
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { Link, Notice, ProblemAlert } from '../../ui/index.ts';
import { useUiTexts } from '../../ui/texts.ts';
import { type Answer, type Explanation, Why } from '../../why/index.ts';
import { factsOf } from './facts.ts';
import { useModel } from './load.ts';
import { type Entity, text } from './shapes.ts';
import { texts } from './texts.ts';

type Props = { action: string; subject: Entity; resource: Entity };

export function WhyPath({ action, subject, resource }: Props) {
  const t = useTexts(texts);
  const ui = useUiTexts();
  const { tenant, api } = useTenant();
  const model = useModel().data;
  const found = useQuery({
    queryKey: ['model', tenant.code, 'why', action, subject, resource],
    enabled: model !== undefined,
    queryFn: async ({ signal }) => {
      const { graph, facts, isCut } = await factsOf(
        api,
        model ?? { types: [], relationships: [] },
        subject,
        resource,
        signal,
      );
      const input = { subject, action, resource, context: {}, tenant: tenant.code, graph, consents: [] };
      const { data } = await api.post<Answer & { explain: Explanation }>(`/policies/${segment(action)}/test`, {
        body: { input },
        signal,
      });
      return { answer: data, explain: { ...data.explain, input: data.explain.input ?? input, facts }, isCut };
    },
  });
  if (found.error) return <ProblemAlert error={found.error} onRetry={() => found.refetch()} />;
  if (found.data === undefined) return <p role="status">{ui.loading}</p>;
  return (
    <section className="stack" aria-label={t.whyTitle(text(subject), text(resource))}>
      <h3>{t.whyTitle(text(subject), text(resource))}</h3>
      <Why answer={found.data.answer} explain={found.data.explain} />
      <Notice>{found.data.isCut ? t.whyCut : t.whyAbout}</Notice>
      <Link to={`/policies/${segment(action)}?subject=${segment(text(subject))}&resource=${segment(text(resource))}`}>
        {t.openInPolicy}
      </Link>
    </section>
  );
}
