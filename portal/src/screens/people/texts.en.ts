export const en = {
  title: 'People',
  about: 'A person’s relationships, consents, invitations and decisions.',
};
export type Texts = typeof en;
