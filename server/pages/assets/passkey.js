// Asks the browser for a passkey and posts what it answers: the form's field `credential` gets the JSON.
const form = document.querySelector('form[data-options]');
const start = form.querySelector('button');
const problem = document.getElementById('problem');

async function ask() {
  problem.hidden = true;
  start.setAttribute('aria-disabled', 'true');
  try {
    const options = JSON.parse(form.dataset.options);
    const { credentials } = navigator;
    const credential =
      form.dataset.mode === 'register'
        ? await credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : await credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    form.elements.credential.value = JSON.stringify(credential);
    form.submit();
  } catch {
    problem.hidden = false;
    problem.focus();
    start.removeAttribute('aria-disabled');
  }
}

const isSupported = 'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential;
document.getElementById(isSupported ? 'ready' : 'unsupported').hidden = false;
document.getElementById('waiting').hidden = true;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (start.getAttribute('aria-disabled') !== 'true') ask();
});
