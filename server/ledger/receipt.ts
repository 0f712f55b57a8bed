/**
 * Receipts: what a user has agreed to, with the fields of ISO/IEC TS 27560:2023 in the terms of the W3C's Data Privacy
 * Vocabulary (JSON-LD), signed as a compact JWS (RFC 7515) by a key that signs nothing else. What only the controller
 * knows (categories of data, recipients, retention) stands in the consent document itself, which the receipt names.
 */
import { CompactSign } from 'jose';
import type { SigningKey } from '../keys/index.ts';

const RECEIPT_TYPE = 'accord-receipt';

/** A UserConsent, as the consents room keeps it. */
export type ReceiptConsent = {
  id: string;
  userId: string;
  name: string;
  version: string;
  document: { version: string; language: string };
  /** RFC 3339. */
  givenAt: string;
  /** sha256: and hexadecimal digits, of the text that was agreed to. */
  contentDigest?: string;
  /** Where the text is. */
  documentUrl: string;
};

type ReceiptIssuer = {
  /** The tenant's code and its name for people: who processes the data. */
  tenant: string;
  displayName: string;
  baseUrl: string;
};

const PROFILE = 'https://w3id.org/dpv/schema/dpv-27560#';

/** @param at the instant of issuing, ms */
export function receiptOf(consent: ReceiptConsent, issuer: ReceiptIssuer, at: number) {
  const home = `${issuer.baseUrl}/${issuer.tenant}`;
  const { name, version, document, contentDigest } = consent;
  const controller = { '@id': home, 'dct:identifier': issuer.tenant, 'dct:title': issuer.displayName };
  return {
    '@context': {
      dpv: 'https://w3id.org/dpv#',
      dct: 'http://purl.org/dc/terms/',
      ...(contentDigest && { spdx: 'http://spdx.org/rdf/terms#' }),
    },
    '@id': `${home}/consents/${consent.id}/receipt`,
    '@type': 'dpv:ConsentReceipt',
    'dct:identifier': consent.id,
    'dct:conformsTo': `${PROFILE}receipt`,
    'dct:created': new Date(at).toISOString(),
    'dct:publisher': controller,
    'dpv:hasRecordOfActivity': {
      '@id': `${home}/consents/${consent.id}`,
      '@type': 'dpv:ConsentRecord',
      'dct:identifier': consent.id,
      'dct:conformsTo': `${PROFILE}record`,
      'dpv:hasDataSubject': { '@type': 'dpv:DataSubject', 'dct:identifier': consent.userId },
      'dpv:hasDataController': controller,
      'dpv:hasProcess': {
        '@type': 'dpv:Process',
        'dpv:hasPurpose': { '@type': 'dpv:Purpose', 'dct:identifier': name },
        'dpv:hasLegalBasis': 'dpv:ExpressedConsent',
      },
      'dpv:hasNotice': {
        '@id': consent.documentUrl,
        '@type': 'dpv:ConsentNotice',
        'dct:identifier': name,
        'dct:isVersionOf': version,
        'dct:hasVersion': document.version,
        'dct:language': document.language,
        ...(contentDigest && { 'spdx:checksum': checksumOf(contentDigest) }),
      },
      'dpv:hasConsentStatus': {
        '@type': 'dpv:ConsentGiven',
        'dpv:isIndicatedBy': 'dpv:DataSubject',
        'dpv:isIndicatedAtTime': consent.givenAt,
      },
    },
  };
}

/** As DCAT and SPDX write a digest. */
function checksumOf(digest: string) {
  const [, value] = digest.split(':');
  return {
    '@type': 'spdx:Checksum',
    'spdx:algorithm': { '@id': 'spdx:checksumAlgorithm_sha256' },
    'spdx:checksumValue': value,
  };
}

/** A compact JWS that the keys of /{tenant}/.well-known/jwks.json verify. It is no access token: its type and key are others. */
export function signReceipt(key: SigningKey, receipt: ReturnType<typeof receiptOf>): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(receipt)))
    .setProtectedHeader({ alg: 'ES256', typ: RECEIPT_TYPE, cty: 'application/ld+json', kid: key.kid })
    .sign(key.privateKey);
}
