/** What stands in place of the portal's web application while there is none. */
import { html } from './html.ts';
import { textsOf } from './language.ts';
import { type PageContext, page, type RenderedPage } from './layout.ts';

export type PortalNoticeProps = Readonly<{
  /** `missing`: nobody builds it. */
  building: 'building' | 'missing' | Readonly<{ failed: string }>;
}>;

const REFRESH_SECONDS = 2;
const COMMAND = 'npm run build:portal';

export function portalNoticePage(context: PageContext, { building }: PortalNoticeProps): RenderedPage {
  const { portalNotice: texts } = textsOf(context.language);
  if (building === 'building') {
    const body = html`<h1>${texts.buildingTitle}</h1><p role="status">${texts.buildingText}</p>`;
    return page(context, { title: texts.buildingTitle, body, headers: { refresh: String(REFRESH_SECONDS) } });
  }
  const isFailed = building !== 'missing';
  const title = isFailed ? texts.failedTitle : texts.missingTitle;
  const body = html`<p class="sign bad" aria-hidden="true">!</p><h1>${title}</h1><p>${texts.build}</p>
<pre tabindex="0"><code>${COMMAND}</code></pre>
${isFailed && html`<section class="details" aria-labelledby="details"><h2 id="details">${texts.output}</h2><pre tabindex="0" lang="en"><code>${building.failed}</code></pre></section>`}`;
  return page(context, { title, body, hasError: true });
}
