export const en = {
  title: 'Consents',
  about: 'What users are asked to agree to, in which versions, and who agreed.',
};
export type Texts = typeof en;
