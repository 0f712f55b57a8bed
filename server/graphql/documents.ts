/** The documents that every member may ask for by name: the portal's. Each keeps to the bounds of cost.ts (a test runs all). */
export const documents: Readonly<Record<string, string>> = {
  policies: `query ($after: Cursor) {
    allPolicies(first: 100, after: $after) {
      nodes { name revision drawn managedBy updatedAt updatedBy }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  policiesNamed: `query ($names: [String!]!) {
    allPolicies(first: 100, filter: { name: { in: $names } }) {
      nodes { name revision drawn managedBy updatedAt updatedBy }
    }
  }`,
  policyRevisions: `query ($name: String!, $after: Cursor) {
    allPolicyRevisions(first: 50, after: $after, orderBy: PRIMARY_KEY_DESC, filter: { policy: { equalTo: $name } }) {
      nodes { revision action updatedAt updatedBy }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  configChanges: `query ($after: Cursor) {
    allConfigChanges(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { revision kind name }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  relationshipsFrom: `query ($type: String!, $id: String!, $after: Cursor) {
    allRelationships(first: 100, after: $after, filter: { fromType: { equalTo: $type }, fromId: { equalTo: $id } }) {
      nodes { fromType fromId relationship toType toId expiresAt createdAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  relationshipsTo: `query ($type: String!, $id: String!, $after: Cursor) {
    allRelationships(first: 100, after: $after, filter: { toType: { equalTo: $type }, toId: { equalTo: $id } }) {
      nodes { fromType fromId relationship toType toId expiresAt createdAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  invitations: `query ($after: Cursor) {
    allInvitations(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { rowId status fromType relationship toType targetType targetId contactMask uses maxUses expiresAt createdAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  relationshipsAround: `query ($type: String!, $id: String!, $afterFrom: Cursor, $afterTo: Cursor) {
    from: allRelationships(first: 80, after: $afterFrom, filter: { fromType: { equalTo: $type }, fromId: { equalTo: $id } }) {
      nodes { fromType fromId relationship toType toId expiresAt createdAt toThing { attributes } }
      pageInfo { hasNextPage endCursor }
    }
    to: allRelationships(first: 80, after: $afterTo, filter: { toType: { equalTo: $type }, toId: { equalTo: $id } }) {
      nodes { fromType fromId relationship toType toId expiresAt createdAt fromThing { attributes } }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  invitationsByStatus: `query ($status: String!, $after: Cursor) {
    allInvitations(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC, filter: { recordedStatus: { equalTo: $status } }) {
      nodes { rowId status fromType relationship toType targetType targetId invitorType invitorId contactMask uses maxUses expiresAt createdAt endedAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  consentsOfDefinition: `query ($definition: String!, $after: Cursor) {
    allConsents(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC, filter: { definition: { equalTo: $definition } }) {
      nodes { rowId userId version document language givenAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  ledgerOfUser: `query ($userId: String!, $after: Cursor) {
    allLedgerEntries(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC, filter: { userId: { equalTo: $userId } }) {
      nodes { time sequence type definition version documentVersion documentLanguage outcome reason actorType actorId requestId }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  events: `query ($after: Cursor) {
    allEvents(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { sequence time rowId type }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  subscriptions: `query ($after: Cursor) {
    allSubscriptions(first: 100, after: $after) {
      nodes { name enabled endpoint eventTypes managedBy revision updatedAt updatedBy }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  subscriptionStates: `query ($after: Cursor) {
    allSubscriptionStates(first: 100, after: $after) {
      nodes { subscription sentThrough sentThroughAt failingSince failures blockedUntil disabledAt disabledReason }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  deliveriesOfSubscription: `query ($subscription: String!, $after: Cursor) {
    allDeliveryAttempts(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC, filter: { subscription: { equalTo: $subscription } }) {
      nodes { sequence number at ms status replayed error answer }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  mails: `query ($after: Cursor) {
    allMailMessages(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { rowId template language transactional recipientMask status reason attempts nextAt createdAt settledAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  mailSuppressions: `query ($after: Cursor) {
    allMailSuppressions(first: 100, after: $after) {
      nodes { key recipientMask reason at }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  things: `query ($type: String!, $after: Cursor) {
    allThings(first: 100, after: $after, filter: { type: { equalTo: $type } }) {
      nodes { type rowId attributes updatedAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  consentsOfUser: `query ($userId: String!, $after: Cursor) {
    allConsents(first: 100, after: $after, filter: { userId: { equalTo: $userId } }) {
      nodes { rowId definition version document language givenAt }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  ledger: `query ($after: Cursor) {
    allLedgerEntries(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { time sequence type definition version outcome userId actorType actorId requestId }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  decisions: `query ($after: Cursor) {
    allDecisions(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { at rowId action outcome reason caller subjectType subjectId resourceType resourceId policyRevision requestId }
      pageInfo { hasNextPage endCursor }
    }
  }`,
  firsts: `query {
    allRelationships(first: 1) { nodes { relationship } }
    allPolicies(first: 8) { nodes { name } }
    allInvitations(first: 1) { nodes { status } }
    allConsents(first: 1) { nodes { definition } }
    allDecisions(first: 1, orderBy: PRIMARY_KEY_DESC) {
      nodes { at rowId action outcome reason subjectType subjectId resourceType resourceId }
    }
  }`,
  audit: `query ($after: Cursor) {
    allAuditEntries(first: 100, after: $after, orderBy: PRIMARY_KEY_DESC) {
      nodes { at rowId actor action kind name revision requestId }
      pageInfo { hasNextPage endCursor }
    }
  }`,
};
