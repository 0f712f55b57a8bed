/**
 * Must be imported first. The page is served with `require-trusted-types-for 'script'; trusted-types default`: every text that is about
 * to become HTML passes here. Mantine writes style sheets this way and nothing else may: a text with a `<` is refused.
 */
type Factory = { createPolicy(name: string, rules: { createHTML(text: string): string }): unknown };

(window as { trustedTypes?: Factory }).trustedTypes?.createPolicy('default', {
  createHTML(text) {
    if (text.includes('<')) throw new TypeError('The portal makes no HTML of texts.');
    return text;
  },
});

export {};
