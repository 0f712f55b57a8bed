// The code of an invitation stands in the fragment of its link, which no browser sends: this puts it into the form.
const code = location.hash.slice(1);
if (code !== '') {
  document.getElementById('code').value = code;
  document.getElementById('by-hand').hidden = true;
}
// The same page with another link: begin again.
addEventListener('hashchange', () => location.hash.length > 1 && location.reload());
