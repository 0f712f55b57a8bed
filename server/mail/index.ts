/**
 * The mail room: messages that the service has to send, written in the transaction of what they tell of. Until there is a
 * transport, the local outbox of `accord start` takes them (outbox.ts); elsewhere they are kept until they expire.
 */
export { type MailMessage, type MailServices, mailRecipientDigest, sendMail } from './actions.ts';
export { removeMail } from './erasing.ts';
export { type OutboxFile, startOutbox } from './outbox.ts';
export { mailRoom } from './room.ts';
export { type MailLanguage, mailLanguageOf, mailLanguages } from './rules.ts';
export type { MailTemplate } from './templates.ts';
