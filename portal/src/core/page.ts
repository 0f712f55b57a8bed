/** What the server wrote into this page. */
import { setNonce } from 'get-nonce';

const meta = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
const filled = (text: string) => (text.startsWith('__ACCORD_') ? '' : text);

/** Of this page's Content-Security-Policy: MantineProvider, CodeMirror (EditorView.cspNonce) and get-nonce need it. */
export const nonce = filled(meta('csp-nonce'));
setNonce(nonce);

/** The path of the server's base URL, without a slash at the end: '' or '/accord'. */
export const base = filled(meta('accord-base'));

/** The tenant whose sharing page this is, which the session of its account speaks for; '' in the portal. */
export const ownTenant = filled(meta('accord-tenant'));
