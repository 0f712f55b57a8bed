export const en = {
  title: 'Settings',
  about: 'Members, clients, issuers, mail, keys and access tokens.',
};
export type Texts = typeof en;
