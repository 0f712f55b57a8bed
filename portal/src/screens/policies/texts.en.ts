export const en = {
  title: 'Policies',
  about: 'Policies say who may do what.',
};
export type Texts = typeof en;
