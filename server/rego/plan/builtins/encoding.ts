import { type Machine, PlanBailout } from '../machine.ts';
import type { PlanValue } from '../values.ts';
import { type PlanBuiltin, type PlanBuiltins, spendText } from './table.ts';

export const encodingBuiltins: PlanBuiltins = {
  'base64.encode': encoder('base64'),
  'base64.decode': decoder(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, 'base64'),
  'base64.is_valid': (machine, text) => {
    if (typeof text !== 'string') return false;
    return decode(machine, text, /^(?:[A-Za-z0-9+/]{4})+$/, 'base64') !== undefined;
  },
  'base64url.decode': decoder(/^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}==|[A-Za-z0-9_-]{3}=)?$/, 'base64url'),
};

function encoder(encoding: 'base64'): PlanBuiltin {
  return (machine, text: PlanValue | undefined) => {
    if (typeof text !== 'string') return undefined;
    spendText(machine, text.length * 4);
    return Buffer.from(text).toString(encoding);
  };
}

function decoder(strict: RegExp, encoding: 'base64' | 'base64url'): PlanBuiltin {
  return (machine, text: PlanValue | undefined) =>
    typeof text === 'string' ? decode(machine, text, strict, encoding) : undefined;
}

/** OPA's decoder skips what it does not know, and its strings may hold any bytes: both are left to it. */
function decode(machine: Machine, text: string, strict: RegExp, encoding: 'base64' | 'base64url'): string {
  spendText(machine, text.length * 2);
  if (text === '' || !strict.test(text)) throw new PlanBailout('base64 that is not strict');
  const bytes = Buffer.from(text, encoding);
  const decoded = bytes.toString();
  if (!Buffer.from(decoded).equals(bytes)) throw new PlanBailout('base64 of other than UTF-8');
  return decoded;
}
