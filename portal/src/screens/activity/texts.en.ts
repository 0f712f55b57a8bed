export const en = {
  title: 'Activity',
  about: 'One log: decisions, events, mails and changes of the configuration.',
};
export type Texts = typeof en;
