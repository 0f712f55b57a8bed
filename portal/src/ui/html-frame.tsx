/** Documents that the server makes of what it is posted, in a frame where nothing runs (server/portal/frame-routes.ts). */
import { useEffect, useId, useRef } from 'react';
import { base } from '../core/page.ts';

type Props = {
  title: string;
  /** Below {base}/portal. */
  action: string;
  fields: Readonly<Record<string, string>>;
  sandbox?: string;
  className?: string;
};

/** Mount it anew (`key`) for other fields, so that each is no step of the browser's history. */
export function PostedFrame({ title, action, fields, sandbox = '', className = 'html-frame' }: Props) {
  const form = useRef<HTMLFormElement>(null);
  // A name that begins with an underscore would be a keyword.
  const name = `frame${useId()}`;
  useEffect(() => form.current?.submit(), []);
  return (
    <>
      <form ref={form} method="post" action={`${base}/portal${action}`} target={name} hidden>
        {Object.entries(fields).map(([field, value]) => (
          <input key={field} type="hidden" name={field} value={value} />
        ))}
      </form>
      <iframe className={className} sandbox={sandbox} name={name} title={title} />
    </>
  );
}

/** HTML that is not ours, such as a mail: it can run, load and reach nothing. */
export const HtmlFrame = ({ html, title }: { html: string; title: string }) => (
  <PostedFrame action="/frame" fields={{ html }} title={title} />
);
