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
