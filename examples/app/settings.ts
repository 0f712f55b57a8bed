/** What the application is told by its environment. */
export type Settings = {
  /** Where Accord is, and which tenant of it. */
  accordUrl: string;
  tenant: string;
  clientId: string;
  clientSecret: string;
  /** The audience that access tokens of users are for. */
  audience: string;
  /** The secret that signs events; during a rotation two. None: events are refused. */
  webhookSecrets: readonly string[];
  /** Where the application is, as browsers reach it. */
  url: string;
  /** Where a person who tries it reads the mail that was sent. */
  mailUrl?: string | undefined;
};

export const issuerOf = ({ accordUrl, tenant }: Settings) => `${accordUrl}/${tenant}/oidc`;
