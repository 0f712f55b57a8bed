export const en = {
  title: 'Model',
  about: 'Types of actors and resources, and the relationships between them.',
};
export type Texts = typeof en;
