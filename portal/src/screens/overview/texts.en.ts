export const en = {
  title: 'Overview',
  about: 'What happens in this tenant now, and what needs somebody.',
};
export type Texts = typeof en;
