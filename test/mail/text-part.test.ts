/** The text part that is made of the HTML of a mail. */
import { expect, test } from 'vitest';
import { textOf } from '../../server/mail/html.ts';

test('the address of a link stands alone, so that nothing is taken for a part of it', () => {
  const address = 'https://accord.example/clinic/invitation#a.b.c.d';
  const text = textOf(`<p><a href="${address}">See the invitation</a></p><p>It expires.</p>`);
  expect(/https?:\/\/\S+/.exec(text)?.[0]).toBe(address);
  expect(textOf(`<a href="${address}">${address}</a>`)).toBe(address);
});
