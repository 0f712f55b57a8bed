/**
 * The mail room: messages that the service has to send, written in the transaction of what they tell of, and sent by SMTP; their
 * templates, and addresses that get none. In `accord start` the local outbox takes them (outbox.ts).
 */
export { type MailMessage, type MailServices, mailRecipientDigest, sendMail } from './actions.ts';
export { removeMail } from './erasing.ts';
export { listOutbox, type OutboxFile, readOutboxFile, startOutbox } from './outbox.ts';
export { mailRoom } from './room.ts';
export { type MailLanguage, mailLanguageOf, mailLanguages, maskOf } from './rules.ts';
export { readMailOutcomes } from './store.ts';
export type { MailTemplate } from './variables.ts';
