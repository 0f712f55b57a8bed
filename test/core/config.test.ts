import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, parseListen, readConfig, requireVariable } from '../../server/core/config.ts';

describe('configuration', () => {
  test('defaults, and numbers parsed', () => {
    const config = readConfig({ ACCORD_DATABASE_POOL: '12', HOME: '/x' });
    expect(config.ACCORD_DATABASE_POOL).toBe(12);
    expect(config.ACCORD_LISTEN).toBe('127.0.0.1:8080');
    expect('HOME' in config).toBe(false);
  });
  test('says all that is wrong at once', () => {
    const environment = {
      ACCORD_LISTN: 'x',
      ACCORD_COMPILERS: '0',
      ACCORD_LOG_LEVEL: 'loud',
      ACCORD_DATABASE_URL: 'mysql://x',
      ACCORD_OUTBOUND_ALLOW: '10.0.0.0/8/8',
      ACCORD_TRUST_PROXY: 'loopback',
    };
    const read = () => readConfig(environment);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/ACCORD_LISTN: unknown variable/);
    expect(read).toThrow(/ACCORD_COMPILERS: must be a whole number from 1 to 16/);
    expect(read).toThrow(/ACCORD_LOG_LEVEL: must be one of debug, info, warn, error, silent/);
    expect(read).toThrow(/ACCORD_DATABASE_URL: must be text that matches/);
    expect(read).toThrow(/ACCORD_OUTBOUND_ALLOW: 10\.0\.0\.0\/8\/8 is not a CIDR range/);
    expect(read).toThrow(/ACCORD_TRUST_PROXY: loopback is not a CIDR range/);
  });
  test('a secret in a file, with white space around it', () => {
    const directory = mkdtempSync(join(tmpdir(), 'accord-config-'));
    const [file, empty] = [join(directory, 'key'), join(directory, 'empty')];
    writeFileSync(file, `${'a'.repeat(43)}\n`);
    writeFileSync(empty, '\n');
    expect(readConfig({ ACCORD_MASTER_KEY_FILE: file }).ACCORD_MASTER_KEY).toBe('a'.repeat(43));
    expect(readConfig({ ACCORD_MASTER_KEY_FILE: '' }).ACCORD_MASTER_KEY).toBeUndefined();
    const both = { ACCORD_MASTER_KEY: 'b'.repeat(43), ACCORD_MASTER_KEY_FILE: file };
    expect(() => readConfig(both)).toThrow('ACCORD_MASTER_KEY_FILE: ACCORD_MASTER_KEY is set, too; give one of both');
    expect(() => readConfig({ ACCORD_MASTER_KEY_FILE: empty })).toThrow(/empty is empty/);
    expect(() => readConfig({ ACCORD_MASTER_KEY_FILE: join(directory, 'gone') })).toThrow(/_FILE: ENOENT.*gone/);
    expect(() => readConfig({ ACCORD_LISTEN_FILE: file })).toThrow('ACCORD_LISTEN_FILE: unknown variable');
    writeFileSync(file, 'short');
    expect(() => readConfig({ ACCORD_MASTER_KEY_FILE: file })).toThrow(/ACCORD_MASTER_KEY: must be text that matches/);
    rmSync(directory, { recursive: true });
  });
  test('a missing variable is named with what needs it', () => {
    expect(() => requireVariable(readConfig({}), 'ACCORD_MASTER_KEY', 'serve')).toThrow(
      'ACCORD_MASTER_KEY: required by serve',
    );
  });
  test('listeners, also of IPv6', () => {
    expect(parseListen('[::1]:80')).toEqual({ host: '::1', port: 80 });
    expect(parseListen('0.0.0.0:8080')).toEqual({ host: '0.0.0.0', port: 8080 });
  });
});
