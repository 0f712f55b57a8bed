/** "Show as": the same thing as an API call, a manifest or a query. It is how people learn the API from the portal. */
import { useState } from 'react';
import { base } from '../core/page.ts';
import { copyText } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Icon } from './icons.tsx';
import { Menu, MenuItem } from './menu.tsx';
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

type Props = { curl?: string; manifest?: string; graphql?: string };

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
        <Dialog label={names[shown]} onClose={() => setShown(undefined)}>
          <div className="stack">
            <h2>{names[shown]}</h2>
            <CodeBlock code={code} />
          </div>
        </Dialog>
      )}
    </>
  );
}
