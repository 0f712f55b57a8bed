/** The bounds of mail, as part of core/limits.ts. */
export const mailLimits = {
  mailTtlMs: 604_800_000, // for which a message is kept; it is sent until then, unless its link expires before
  mailVariablesBytesMax: 8 * 1024,
  outboxMessagesMax: 50, // written to the local outbox at once

  // Sending
  mailTurnMsMax: 60_000, // for which a mail waits for a connection; then it is read anew, and waits again
  mailSendMsMax: 30_000, // of one attempt, from connecting until the mail is written
  mailAnswerMsMax: 600_000, // from then until the server has accepted it, as RFC 5321 section 4.5.3.2.6 says: it may scan
  mailRetryMsMin: 60_000, // after an attempt that failed for the moment; doubled with each further one
  mailRetryMsMax: 14_400_000,
  mailsSendingPerTenantMax: 10, // of a tenant, at once
  mailsExpiringMax: 200, // ended in one go, of those that were not sent in time
  clockJumpMsMin: 600_000, // by which a clock differs from a monotonic one, between two looks at mails that expire
  clockJumpHoldMs: 900_000, // for which a clock that jumped forward ends no mail
  mailTransportsMax: 50, // mail servers to which connections are kept open
  mailAnswerCharsMax: 200, // of what a mail server said, as it is stored
  mailAnswerCharsLookedAtMax: 800, // of it, for addresses

  // Templates
  mailTemplatesMax: 500, // of a tenant, in all languages
  mailSubjectCharsMax: 200, // of a template's subject
  mailTemplateCharsMax: 50_000, // of one part of a template
  mailTemplateTagsMax: 1000, // of one part: what reads its variables takes the square of them
  mailRenderMsMax: 50, // of one part; also for its parsing, and for sanitizing it
  mailRenderAttemptsMax: 3, // of work that was ended before it had the CPU for so long
  mailRenderWaitMsMax: 1000, // of one attempt, waiting for the CPU included
  mailFilterItemsMax: 5000, // of a list that a filter works on; texts have mailRenderBytesMax
  mailRenderBytesMax: 64 * 1024, // of one rendered part
  mailTemplateBodyBytesMax: 192 * 1024,
  mailMessageBodyBytesMax: 16 * 1024,

  mailReportBytesMax: 64 * 1024, // of a bounce's report
} as const;
