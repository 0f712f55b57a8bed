/** What people recognize a browser by. Of the User-Agent nothing else is kept. */
import { Type } from 'typebox';

/** Absent members are not known. */
export type Device = { browser?: string; system?: string };
export const Device = Type.Object({ browser: Type.Optional(Type.String()), system: Type.Optional(Type.String()) });

/** The first that matches: browsers name also those that they descend from. */
const browsers = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|Opera)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|Chromium|CriOS)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
] as const;
const systems = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

export function deviceOf(userAgent: string | undefined): Device {
  const named = (known: readonly (readonly [RegExp, string])[]) =>
    known.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const [browser, system] = [named(browsers), named(systems)];
  return { ...(browser === undefined ? {} : { browser }), ...(system === undefined ? {} : { system }) };
}
