import { expect, test } from 'vitest';
import { isAddressAllowed, isLoopback, isThisMachine, parseCidrs } from '../../../server/core/outbound/addresses.ts';

const refused = [
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fd00::1', 'fec0::1'],
  ['link-local', '169.254.169.254', 'fe80::1', 'fe80::1%eth0'],
  ['carrier-grade NAT', '100.64.0.0', '100.127.255.255'],
  ['multicast and broadcast', '224.0.0.1', '239.255.255.255', 'ff02::1', '255.255.255.255'],
  [
    'reserved',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2001:db8::1',
    '100::1',
    '5f00::1',
  ],
  ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  ['IPv4-compatible', '::127.0.0.1', '::7f00:1', '::8.8.8.8'],
  ['translated', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1', '::ffff:0:7f00:1'],
  ['tunnelled', '2002:7f00:1::', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['no address at all', '', 'localhost', '1.2.3', '300.1.1.1', 'x::y'],
].flatMap(([what, ...addresses]) => addresses.map((address) => [what as string, address] as const));

test.each(refused)('%s is refused: %s', (_, address) => {
  expect(isAddressAllowed(address, [])).toBe(false);
});

test.each([
  '8.8.8.8',
  '100.63.255.255',
  '100.128.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '169.253.255.255',
  '2606:4700::1111',
  '2a00:1450::1',
])('a public address is allowed: %s', (address) => {
  expect(isAddressAllowed(address, [])).toBe(true);
});

test('a mapped public address is refused: nothing legitimate resolves to one', () => {
  expect(isAddressAllowed('::ffff:8.8.8.8', [])).toBe(false);
});

test('ranges allow what they contain and nothing beside it', () => {
  const allow = parseCidrs('10.1.0.0/16, fd00:1::/32,192.168.7.9');
  for (const inside of ['10.1.0.0', '10.1.255.255', 'fd00:1::5', '192.168.7.9', '::ffff:10.1.2.3']) {
    expect(isAddressAllowed(inside, allow), inside).toBe(true);
  }
  for (const outside of ['10.0.255.255', '10.2.0.0', 'fd00:2::5', '192.168.7.8', '::ffff:10.2.0.1', '127.0.0.1']) {
    expect(isAddressAllowed(outside, allow), outside).toBe(false);
  }
});

test('a range that cannot be read is named', () => {
  expect(() => parseCidrs('10.0.0.0/8,10.0.0.0/33')).toThrow('10.0.0.0/33 is not a CIDR range');
  expect(() => parseCidrs('10.0.0.0/8/8')).toThrow('10.0.0.0/8/8 is not a CIDR range');
  expect(() => parseCidrs('10.0.0.0/')).toThrow('10.0.0.0/ is not a CIDR range');
  expect(() => parseCidrs('localhost')).toThrow('localhost is not a CIDR range');
  expect(() => parseCidrs('010.0.0.0/8')).toThrow('010.0.0.0/8 is not a CIDR range');
  expect(parseCidrs(' ')).toEqual([]);
});

test('this machine is loopback, unspecified and its interfaces, in every form', () => {
  const interfaces = ['192.168.1.5', 'fd00::5'];
  for (const here of [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '192.168.1.5',
    '::ffff:192.168.1.5',
    'fd00:0::5',
  ]) {
    expect(isThisMachine(here, interfaces), here).toBe(true);
  }
  for (const there of ['192.168.1.6', 'fd00::6', '8.8.8.8', 'nonsense'])
    expect(isThisMachine(there, interfaces), there).toBe(false);
  expect(isLoopback('[::1]')).toBe(true);
  expect(isLoopback('10.0.0.1')).toBe(false);
});
