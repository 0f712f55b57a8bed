/** A self-signed certificate for one host name, made on the spot: X.509 in just enough DER. */
import { generateKeyPairSync, sign } from 'node:crypto';

function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length: bytes } = content;
  const length = bytes < 128 ? [bytes] : bytes < 256 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 255];
  return Buffer.concat([Buffer.of(tag, ...length), content]);
}
const sequence = (...contents: Uint8Array[]) => der(0x30, ...contents);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const time = (text: string) => der(0x18, Buffer.from(text));

/** PEM of a P-256 key and of its certificate, valid for the whole century. */
export function selfSigned(host: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(host)))));
  const altName = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(host)))));
  const basic = sequence(oid('551d13'), der(0x04, sequence(der(0x01, Buffer.of(255)))));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, Buffer.of(1)),
    algorithm,
    name,
    sequence(time('20000101000000Z'), time('20991231235959Z')),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(altName, basic)),
  );
  const certificate = sequence(body, algorithm, der(0x03, Buffer.of(0), sign('sha256', body, privateKey)));
  const pem = certificate
    .toString('base64')
    .match(/.{1,64}/g)
    ?.join('\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`,
  };
}
