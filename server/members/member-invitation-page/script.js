// The page of an invitation: the secret stands in the fragment, which no browser sends, until the button sends it once.
const by = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const tenant = /^([a-z][a-z0-9-]{1,39})\.[A-Za-z0-9_-]{43}$/.exec(token)?.[1];

const sentences = {
  400: 'This link is not complete. Copy all of it from where you got it.',
  404: 'The tenant of this invitation does not exist, or it is disabled.',
  410: 'This invitation was used, has expired, or was withdrawn. Ask whoever sent it for a new one.',
  429: 'Too many tries. Wait a moment, then try again.',
};

function refuse(sentence, final) {
  by('problem').textContent = sentence;
  by('problem').hidden = false;
  if (final) by('title').textContent = 'This invitation does not work';
  by('ask').hidden = final;
  by('redeem').disabled = false;
}

function show(answer) {
  // A reload would only say that the link was used.
  history.replaceState(null, '', location.pathname);
  by('problem').hidden = true;
  by('ask').hidden = true;
  by('done-tenant').textContent = answer.tenant;
  by('done-email').textContent = answer.email;
  by('done-role').textContent = answer.role;
  const expires = new Date(answer.expiresAt);
  by('done-expires').dateTime = answer.expiresAt;
  by('done-expires').textContent = expires.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'short' });
  by('done-api').textContent = new URL(`../tenants/${answer.tenant}/`, location.href).href;
  by('token').value = answer.token;
  by('done').hidden = false;
  by('title').textContent = 'You are a member';
  by('title').focus();
}

async function redeem() {
  by('redeem').disabled = true;
  by('problem').hidden = true;
  try {
    const response = await fetch('invitations/redeem', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    if (response.ok) show(await response.json());
    else
      refuse(
        sentences[response.status] ?? `The server could not do it (${response.status}). Try again later.`,
        [400, 404, 410].includes(response.status),
      );
  } catch {
    refuse('The server did not answer. Check your connection, and try again.', false);
  }
}

async function copy() {
  try {
    await navigator.clipboard.writeText(by('token').value);
    by('said').textContent = 'Copied.';
  } catch {
    // Without https there is no clipboard for pages: the person copies what is selected.
    by('token').focus();
    by('token').select();
    by('said').textContent = 'Selected: copy it with your keyboard.';
  }
}

if (tenant === undefined) refuse(sentences[400], true);
else by('tenant').textContent = tenant;
by('redeem').addEventListener('click', redeem);
by('copy').addEventListener('click', copy);
// The same page with another link: begin again.
addEventListener('hashchange', () => location.hash.length > 1 && location.reload());
