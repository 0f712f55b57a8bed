/**
 * The pictures of docs/images, which walks of tests take: `ACCORD_TEST_SHOTS=FOLDER npm test -- FILE` with the file of a walk keeps
 * its pictures in the folder. test/docs/pictures.test.ts compares the list with docs/images and with what pages show.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decode } from 'fast-png';
import { encode } from 'modern-gif';
import type { Page, PageScreenshotOptions } from 'playwright-core';

const example = 'test/e2e/example-app.browser.test.ts';
const pages = 'test/pages/walk.browser.test.ts';

/** Each picture, and the walk that takes it. */
export const pictures = {
  'account-sessions.png': pages,
  'account.png': pages,
  'consent.png': pages,
  'invitation.png': pages,
  'log-in.png': pages,
  'member-invitation.png': pages,
  'portal-consents.png': example,
  'portal-overview.png': example,
  'portal-policy.gif': example,
  'portal-why.png': example,
} as const;

type Name<End extends string> = Extract<keyof typeof pictures, `${string}.${End}`>;

const folder = () => process.env.ACCORD_TEST_SHOTS;

/** Keeps a picture of the page, where somebody wants pictures. */
export async function keepPicture(page: Page, name: Name<'png'>, options: PageScreenshotOptions = {}): Promise<void> {
  const to = folder();
  if (to) await page.screenshot({ ...options, path: join(to, name) });
}

const frameMs = 1600;
const lastFrameMs = 3200;

/** A moving picture: what the page shows at each `add`. Nothing is drawn where nobody wants pictures. */
export function movingPicture(page: Page) {
  const frames: Buffer[] = [];
  return {
    async add(): Promise<void> {
      if (folder()) frames.push(await page.screenshot());
    },
    async keep(name: Name<'gif'>): Promise<void> {
      const to = folder();
      if (to) await writeFile(join(to, name), await gifOf(frames));
    },
  };
}

async function gifOf(shots: readonly Buffer[]): Promise<Buffer> {
  const images = shots.map((shot) => decode(shot));
  const [first] = images;
  if (first === undefined) throw new Error('a moving picture has no frames');
  const { width, height } = first;
  const frames = images.map((image, index) => ({
    data: withAlpha(image.data, image.channels),
    delay: index === images.length - 1 ? lastFrameMs : frameMs,
  }));
  return Buffer.from(await encode({ width, height, maxColors: 128, frames }));
}

/** Chromium's pictures are opaque, and without the byte of alpha that the encoder reads. */
function withAlpha(data: ArrayLike<number>, channels: number): Uint8ClampedArray<ArrayBuffer> {
  const rgba = new Uint8ClampedArray((data.length / channels) * 4).fill(255);
  for (let pixel = 0; pixel * channels < data.length; pixel++) {
    for (let part = 0; part < channels; part++) rgba[pixel * 4 + part] = data[pixel * channels + part] ?? 0;
  }
  return rgba;
}
