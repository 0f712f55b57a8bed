export const en = {
  copy: 'Copy as manifest',
  open: 'Open a change',
  close: 'Close the change',
  show: 'Show the change',
  theChange: 'The change',
  nothing: 'Nothing is changed.',
  ofKubernetes: (owner: string) =>
    `${owner} owns this: the portal does not change it. This command changes it in the cluster; only the fields that changed are in it. Whoever keeps the manifest in a repository changes the same fields there.`,
  ofFile: (owner: string) =>
    `${owner} owns this: the portal does not change it. This is the manifest as it is to be. The portal does not know the comments of the file, nor how the operator treats it (managementPolicy, adoptionPolicy): keep those.`,
  before: 'Now',
  after: 'Changed',
  editing: (kind: string) => `The spec of the ${kind}`,
  editingAbout:
    'Change it here, then show the change as a text to apply. Nothing is written. What you type is kept in this browser.',
  secrets: 'Secrets are not in it: it names those of the cluster.',
  discard: 'Discard the draft',
  notObject: 'A spec is a list of fields, such as `name: value`.',
  wrong: 'The manifest would be refused:',
};
export type ManifestTexts = typeof en;
