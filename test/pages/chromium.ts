import { existsSync } from 'node:fs';

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Where Chromium is: what ACCORD_TEST_CHROMIUM names, or where Debian and others put it. */
export const chromiumPath = (): string | undefined =>
  [process.env.ACCORD_TEST_CHROMIUM ?? '', ...places].find((place) => place !== '' && existsSync(place));

export const howToGetChromium = 'apt-get install -y chromium';

/** With TEST_BROWSER=required the tests run, and fail where there is no Chromium. */
export const skipsBrowser = () => process.env.TEST_BROWSER !== 'required' && chromiumPath() === undefined;
