/** Bounds of the authorization servers of tenants. */
export const oidcLimits = {
  oidcProvidersMax: 300, // issuers that a server holds at once; 90 to 200 KiB each, and built in 1 ms
  oidcImportAfterMs: 3000, // since the listeners are open: loading the library holds everything up for half a second
  oidcBodyBytesMax: 56 * 1024, // of a request to its endpoints
  oidcParametersMax: 100, // of a query or form: the library takes the square of how often one is repeated
  oidcParameterCharsMax: 2048,
  oidcLongParameterCharsMax: 16 * 1024, // of a token, or of what has a structure
  authorizationRequestCharsMax: 8192, // of all that is kept while somebody logs in
  beginningsBurstMax: 2000, // log-ins, pushed requests or device codes that a network begins at once
  beginningsPerSecondMax: 10, // then: people of a large network log in within minutes
  pushedRequestsPerSecondMax: 20,
  sessionsPerAccountMax: 100, // then the one that expires first ends
  grantsPerAccountAndClientMax: 200, // then the oldest goes with its tokens
  refreshTokensKeptMax: 1000, // consumed ones of a grant, up to twice as many; an older one that is used again is unknown
  formBodyBytesMax: 16 * 1024, // of a form of its pages
  authorizationCodeTtlMs: 60_000,
  deviceCodeTtlMs: 600_000,
  interactionTtlMs: 3_600_000, // a log-in under way
  grantSpareMs: 86_400_000, // for which a grant outlives its refresh tokens
  oidcSweepItemsMax: 5000, // expired records that are removed in one statement
  oidcSweepMs: 60_000,
  backchannelTimeoutMs: 2500, // of telling one client that a session has ended
  clientJwksBytesMax: 64 * 1024, // of the keys of a client
  upstreamLogInTtlMs: 600_000, // for which somebody may take to log in at another issuer
  upstreamMsMax: 10_000, // of all requests to another issuer that one log-in needs
  upstreamBytesMax: 256 * 1024, // of each answer
  upstreamStateCharsMax: 64, // of a parameter that comes back
  upstreamAtOncePerTenantMax: 16, // log-ins of a tenant that wait for another issuer; further ones are refused
  upstreamAtOncePerNetworkMax: 4, // of those, log-ins of one network
  dpopProofCharsMax: 4096,
  dpopProofsMax: 20_000, // that a server remembers without asking Postgres
  dpopProofAgeMsMax: 60_000, // before and after now: clocks of devices differ
} as const;
