/** The bounds of the portal, as part of core/limits.ts. */
export const portalLimits = {
  portalFormBytesMax: 8 * 1024,
  pageSessionTtlMs: 43_200_000, // of a log-in at the portal, or at the page of one's own account
  portalLogInMs: 600_000, // for which a log-in or an invitation under way is kept by the browser
  portalLogInLinkMs: 900_000, // of the link that `accord start` prints
  portalReturnPathCharsMax: 2000, // to which a log-in leads: a cookie, of at most 4 KiB, keeps it meanwhile
  portalRecentLogInMs: 600_000, // a token is made only by somebody who logged in no longer ago
  portalFrameBytesMax: 256 * 1024, // of a form with a rendered mail: mailRenderBytesMax, of which each byte may take three
  portalListItemsMax: 500, // tenants that a person chooses from
} as const;
