import { expect, test } from 'vitest';
import { deviceOf } from '../../server/http/device.ts';

const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko)';

test.each<[string | undefined, object]>([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', { browser: 'Firefox', system: 'Linux' }],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`,
    { browser: 'Edge', system: 'Windows' },
  ],
  [
    `Mozilla/5.0 (Linux; Android 15; K) ${webkit} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
    { browser: 'Samsung Internet', system: 'Android' },
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
    { browser: 'Safari', system: 'iPhone' },
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
    { browser: 'Safari', system: 'macOS' },
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Chrome/142.0.0.0 Safari/537.36`,
    { browser: 'Chrome', system: 'ChromeOS' },
  ],
  ['curl/8.9', {}],
  ['<script>alert(1)</script> Linux', { system: 'Linux' }],
  ['', {}],
  [undefined, {}],
])('a browser is recognized by its User-Agent, of which nothing else is kept: %j', (userAgent, device) => {
  expect(deviceOf(userAgent)).toEqual(device);
});
