/** What is not done yet of the first five things, each with the page or the command that does it. They tick themselves off. */
import { useTenant } from '../../core/session.ts';
import { useTexts } from '../../core/texts.ts';
import { curl, Icon, Link, Notice } from '../../ui/index.ts';
import { CodeBlock } from '../../ui/show-as.tsx';
import { type Overview, type Step, steps } from './data.ts';
import { texts } from './texts.ts';

const pages: { [K in Step]?: string } = {
  policy: '/policies?new=1',
  relationship: '/model/relationships',
  consent: '/consents?new=1',
};

/** The call of each step; the policy's name is what the others ask about. */
function commands(tenant: string, c: (path: string) => string): Record<Step, string> {
  const rego = 'package doc.read\n\ndefault outcome := "deny"\n\noutcome := "allow" if input.subject.id == "alice"\n';
  const [alice, doc] = [
    { type: 'user', id: 'alice' },
    { type: 'doc', id: '1' },
  ];
  const sharing = { relationshipType: 'reads', to: doc };
  const agreed = { name: 'terms', version: '1', document: { version: '1', language: 'en' } };
  return {
    policy: curl(c('/policies/doc:read'), { method: 'PUT', body: { rego } }),
    decision: curl(`/${tenant}/access/v1/evaluation`, {
      method: 'POST',
      body: { subject: alice, action: { name: 'read' }, resource: doc },
    }),
    relationship: curl(c('/actors/user/alice/relationships'), { method: 'POST', body: sharing }),
    invitation: curl(`/${tenant}/sharing/invitations`, {
      method: 'POST',
      body: { ...sharing, invitor: alice, invitee: { contact: { type: 'email', value: 'bob@example.org' } } },
    }),
    consent: curl(c('/consents'), { method: 'POST', body: { ...agreed, userId: 'alice', reason: 'Signed form 1' } }),
  };
}

type Props = { done: Record<Step, boolean>; decisionLog: Overview['decisionLog'] };

export function Steps({ done, decisionLog }: Props) {
  const t = useTexts(texts);
  const { tenant, api } = useTenant();
  const commandOf = commands(tenant.code, api.path);
  const [finished, open] = [steps.filter((step) => done[step]), steps.filter((step) => !done[step])];
  return (
    <section className="card stack" aria-label={t.begin}>
      <h2>{t.begin}</h2>
      <p className="dim">{t.beginAbout(finished.length)}</p>
      {finished.map((step) => (
        <p key={step} className="row">
          <span className="step-done">
            <Icon name="check" />
          </span>
          {t.done(t.steps[step].title)}
        </p>
      ))}
      <ol className="steps">
        {open.map((step) => (
          <li key={step}>
            <span className="tick" aria-hidden="true" />
            <div>
              <strong>{t.steps[step].title}</strong>
              <p className="dim">{t.steps[step].about}</p>
              {step === 'decision' && decisionLog === 'off' && <Notice tone="warn">{t.decisionLogs.off}</Notice>}
              {pages[step] !== undefined && <Link to={pages[step]}>{t.steps[step].page}</Link>}
              <details open={step === open[0] && pages[step] === undefined}>
                <summary>{t.command}</summary>
                <CodeBlock code={commandOf[step]} />
              </details>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}
