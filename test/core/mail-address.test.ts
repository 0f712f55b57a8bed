/** Mail addresses as they are compared: the domain as the DNS does, ASCII letters without case, and nothing more. */
import { describe, expect, test } from 'vitest';
import { bounds } from '../../crds/index.ts';
import { comparableAddress } from '../../server/core/mail-address.ts';

const of = (text: string) => {
  const read = comparableAddress(text);
  return read.ok ? read.address : undefined;
};

describe('two addresses are the same', () => {
  test.each([
    ['in another case', 'Bob.Builder@Example.COM', 'bob.builder@example.com'],
    ['with the domain in A-labels', 'bob@münchen.example', 'bob@xn--mnchen-3ya.example'],
    ['with the domain in A-labels of another case', 'bob@MÜNCHEN.example', 'bob@XN--MNCHEN-3YA.example'],
    ['with a domain whose accents are marks of their own', 'bob@mu\u0308nchen.example', 'bob@münchen.example'],
    ['with a local part whose accents are marks of their own', 'jose\u0301@example.org', 'josé@example.org'],
    ['with the Ångström sign in the local part', '\u212bke@example.org', 'Åke@example.org'],
    ['with the Kelvin sign in the domain', 'bob@\u212ae.example', 'bob@ke.example'],
    ['with a full-width domain', 'bob@ｅｘａｍｐｌｅ.org', 'bob@example.org'],
  ])('%s', (_, one, other) => {
    expect(of(one)).toBeDefined();
    expect(of(one)).toBe(of(other));
  });
});

describe('two addresses are not the same', () => {
  test.each([
    ['with other dots', 'bobbuilder@example.com', 'bob.builder@example.com'],
    ['with something after a plus', 'bob+car@example.com', 'bob@example.com'],
    ['at another name of one provider', 'bob@googlemail.com', 'bob@gmail.com'],
    ['under a subdomain', 'bob@mail.example.com', 'bob@example.com'],
    ['of letters that look alike', 'bоb@example.com', 'bob@example.com'],
    ['of letters beyond ASCII in another case', 'JOSÉ@example.org', 'josé@example.org'],
    ['of the Kelvin sign, which NFC makes a K', 'bo\u212a@example.org', 'bok@example.org'],
    ['of the Kelvin sign beside a mark', 'bo\u212a\u0327@example.org', 'bo\u0137@example.org'],
    ['of full-width letters', 'ｂｏｂ@example.org', 'bob@example.org'],
    ['of a long s', 'bo\u017f@example.org', 'bos@example.org'],
    ['of a dotless i', 'ı@example.org', 'i@example.org'],
  ])('%s', (_, one, other) => {
    expect(of(one)).toBeDefined();
    expect(of(other)).toBeDefined();
    expect(of(one)).not.toBe(of(other));
  });
});

describe('what is not an address alone is refused, and why', () => {
  test.each([
    ['Bob <bob@example.org>', /without a display name/],
    ['<bob@example.org>', /without a display name/],
    ['"Bob" <bob@example.org>', /without a display name/],
    ['bob@example.org (Bob)', /without a comment/],
    ['bob(Bob)@example.org', /without a comment/],
    ['"bob builder"@example.org', /without a quoted/],
    ['bob@[192.0.2.1]', /not an IP address/],
    ['bob@[IPv6:2001:db8::1]', /not an IP address/],
    ['bob@192.0.2.1', /not an IP address/],
    ['bob@0x7f.1', /not an IP address/],
    ['bob@１２７.0.0.1', /not an IP address/],
    ['bob@exa_mple.org', /an e-mail address/],
    ['bob@-example.org', /-example\.org is not a domain name/],
    ['bob@example..org', /is not a domain name/],
    ['bob@example.org.', /is not a domain name/],
    ['bob@', /an e-mail address/],
    ['@example.org', /an e-mail address/],
    ['bob', /an e-mail address/],
    ['', /an e-mail address/],
    ['bob@a@example.org', /an e-mail address/],
    ['Bob bob@example.org', /an e-mail address/],
    [' bob@example.org', /an e-mail address/],
    ['bob@example.org\n', /an e-mail address/],
    ['bob\0@example.org', /an e-mail address/],
    ['b\u202eob@example.org', /an e-mail address/],
    ['b\u200bob@example.org', /an e-mail address/],
    ['bob\ud800@example.org', /an e-mail address/],
    ['bob@example.org,eve@example.org', /an e-mail address/],
  ])('%j', (text, why) => {
    expect(comparableAddress(text)).toEqual({ ok: false, detail: expect.stringMatching(why) });
  });

  test('one that is longer than emailCharsMax with its domain in A-labels', () => {
    const local = (chars: number) => 'a'.repeat(chars);
    const domain = '@xn--mnchen-3ya.example';
    expect(of(`${local(bounds.emailCharsMax - domain.length)}@münchen.example`)).toBeDefined();
    expect(comparableAddress(`${local(bounds.emailCharsMax - domain.length + 1)}@münchen.example`)).toMatchObject({
      detail: expect.stringContaining(`${bounds.emailCharsMax} characters`),
    });
  });
});
