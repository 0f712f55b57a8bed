/** HTML that is not ours, such as a mail, in a frame where it can run, load and reach nothing (server/portal/frame-routes.ts). */
import { useEffect, useId, useRef } from 'react';
import { base } from '../core/page.ts';

/** @param html mount it anew (`key`) for another one, so that each is no step of the browser's history */
export function HtmlFrame({ html, title }: { html: string; title: string }) {
  const form = useRef<HTMLFormElement>(null);
  // A name that begins with an underscore would be a keyword.
  const name = `frame${useId()}`;
  useEffect(() => form.current?.submit(), []);
  return (
    <>
      <form ref={form} method="post" action={`${base}/portal/frame`} target={name} hidden>
        <input type="hidden" name="html" value={html} />
      </form>
      <iframe className="html-frame" sandbox="" name={name} title={title} />
    </>
  );
}
