import { existsSync } from 'node:fs';

/** The first is without the windows that nobody sees, and needs half of the time for each page. */
const places = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** Where Chromium is: what ACCORD_TEST_CHROMIUM names, or where Debian and others put it. */
export const chromiumPath = (): string | undefined =>
  [process.env.ACCORD_TEST_CHROMIUM ?? '', ...places].find((place) => place !== '' && existsSync(place));

export const howToGetChromium = 'apt-get install -y chromium-headless-shell';

/** With TEST_BROWSER=required the tests run, and fail where there is no Chromium. */
export const skipsBrowser = () => process.env.TEST_BROWSER !== 'required' && chromiumPath() === undefined;
