/** "Show as": the same thing as an API call, a manifest or a query. It is how people learn the API from the portal. */
import { useEffect, useState } from 'react';
import { base } from '../core/page.ts';
import { copyText } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { Menu, MenuItem } from './menu.tsx';
import { ProblemAlert } from './problem-alert.tsx';
import { useUiTexts } from './texts.ts';

export function CodeBlock({ code }: { code: string }) {
  const texts = useUiTexts();
  return (
    <div className="stack">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
      <pre className="code" tabIndex={0}>
        {code}
      </pre>
      <div>
        <button type="button" className="plain chip" onClick={() => void copyText(code, texts)}>
          <Icon name="copy" /> {texts.copy}
        </button>
      </div>
    </div>
  );
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** @param path with /tenants/…, such as api.path('/policies') */
export function curl(
  path: string,
  { method = 'GET', body, note }: { method?: string; body?: unknown; note?: string } = {},
) {
  const lines = [
    ...(note === undefined ? [] : [`# ${note}`]),
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(location.origin + base + path)} \\`,
    `  -H "Authorization: Bearer $ACCORD_TOKEN"`,
  ];
  if (body === undefined) return lines.join('\n');
  return [...lines, `  -H 'Content-Type: application/json' \\`, `  -d ${quoted(JSON.stringify(body))}`]
    .map((line) => (line === lines.at(-1) ? `${line} \\` : line))
    .join('\n');
}

/** A text, or how it is made when somebody wants to see it. */
export type Code = string | (() => Promise<string>);
type Props = { curl?: Code; manifest?: Code; graphql?: Code };

export function ShowAs(forms: Props) {
  const texts = useUiTexts();
  const [shown, setShown] = useState<keyof Props>();
  const names = { curl: texts.asCurl, manifest: texts.asManifest, graphql: texts.asGraphql };
  const code = shown === undefined ? undefined : forms[shown];
  return (
    <>
      <Menu
        label={texts.showAs}
        className="plain chip"
        button={
          <>
            <Icon name="code" /> {texts.showAs} <Icon name="chevronDown" size={12} />
          </>
        }
      >
        {(Object.keys(names) as (keyof Props)[])
          .filter((name) => forms[name] !== undefined)
          .map((name) => (
            <MenuItem key={name} onChoose={() => setShown(name)}>
              {names[name]}
            </MenuItem>
          ))}
      </Menu>
      {shown !== undefined && code !== undefined && (
        <CodeDialog label={names[shown]} code={code} onClose={() => setShown(undefined)} />
      )}
    </>
  );
}

type DialogProps = { label: string; code: Code; onClose: () => void };

export const CodeDialog = ({ label, code, onClose }: DialogProps) => (
  <Dialog label={label} className="wide" onClose={onClose}>
    <div className="stack">
      <h2>{label}</h2>
      <CodeLater code={code} />
    </div>
  </Dialog>
);

/** @param code made, or asked for, when it is shown: once */
export function CodeLater({ code }: { code: Code }) {
  const texts = useUiTexts();
  const [made, setMade] = useState(typeof code === 'string' ? code : undefined);
  const [error, setError] = useState<unknown>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is shown stays as it was when it was asked for
  useEffect(() => {
    if (typeof code === 'function') code().then(setMade, setError);
  }, []);
  if (error !== undefined) return <ProblemAlert error={error} />;
  return made === undefined ? <p role="status">{texts.loading}</p> : <CodeBlock code={made} />;
}
