/** The bounds of accounts and of the mail that they send, as part of core/limits.ts. */
export const accountLimits = {
  // Passwords (NIST SP 800-63B-4 section 3.1.1)
  passwordCharsMin: 8,
  passwordBytesMax: 256, // in UTF-8, of the normalized form
  passwordQueuePerTenantMax: 512, // hashes of a tenant that wait for the thread; further ones are refused
  passwordQueuePerNetworkMax: 64, // of those, hashes that one network asked for
  passwordHashMsMax: 10_000, // by the clock: a thread that does not answer is replaced
  argonMemoryKibMin: 19_456, // OWASP's smallest memory with two passes
  argonPassesMax: 2,

  // Log-ins that failed
  loginFailuresFreeMax: 5, // of an address in a row, before it has to wait
  loginNetworkFailuresFreeMax: 50, // of a network
  loginNetworkForgetOneMs: 60_000, // in each, one failure of a network is forgotten
  loginDelayMsMin: 1000, // after those; doubled with each failure
  loginDelayMsMax: 900_000,
  loginForgetMs: 86_400_000, // since the last failure: then it counts from the beginning

  // Links and what they are for
  accountMailsFreeMax: 3, // to an address in a row, before the next one has to wait
  accountMailsNetworkFreeMax: 20, // that a network asks for
  accountMailsNetworkForgetOneMs: 180_000, // in each, one mail that a network asked for is forgotten
  accountMailDelayMsMin: 60_000, // after those; doubled with each
  accountMailDelayMsMax: 3_600_000,
  verificationTtlMs: 86_400_000,
  passwordResetTtlMs: 1_800_000,
  identityLinkTtlMs: 600_000,
  challengeTtlMs: 300_000, // of a passkey
  passkeysMax: 20, // of an account
  passkeyNameCharsMax: 64,
  passkeyResponseBytesMax: 16 * 1024,
  identitiesMax: 20, // of an account
  accountItemsMax: 100, // that the account page reads of each: log-ins, grants, relationships, consents
  accountNameCharsMax: 128,
  accountPrefixCharsMax: 254, // of an address that is searched for
} as const;
