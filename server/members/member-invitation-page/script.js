// The page of an invitation: the secret stands in the fragment, which no browser sends, until the button posts it.
const by = (id) => document.getElementById(id);
const token = location.hash.slice(1);
const tenant = /^([a-z][a-z0-9-]{1,39})\.[A-Za-z0-9_-]{43}$/.exec(token)?.[1];

if (tenant !== undefined) {
  const name = document.createElement('strong');
  name.textContent = tenant;
  by('tenant').replaceChildren('the tenant ', name);
  by('token').value = token;
  by('by-hand').hidden = true;
} else if (token !== '') {
  by('problem').textContent = 'This link is not complete. Copy all of it from where you got it.';
  by('problem').hidden = false;
}
// The same page with another link: begin again.
addEventListener('hashchange', () => location.hash.length > 1 && location.reload());
