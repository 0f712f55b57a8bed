/** What is shown and kept of requests and answers: their beginnings, without addresses of persons. Pure. */
import { limits } from '../../core/limits.ts';

const MAIL = /[^\s"'<>,;:@(){}[\]]+@[^\s"'<>,;@(){}[\]]+/g;
const PHONE = /\+\d[\d ().-]{5,}\d/g;

export function excerptOf(text: string): string {
  // Cut first: the patterns are quick on short texts.
  return text.slice(0, limits.deliveryExcerptCharsMax).replace(MAIL, '***').replace(PHONE, '***');
}
