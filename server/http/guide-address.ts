/** Where the documentation is, and what its pages may load: of the site and of the pages as they are written. */
export const guideAddress = '/docs/guide/';

/** From the address without the slash at its end, also where the base URL has a path. */
export const guideRelative = 'guide/';

/** Highlighted code has its colours in attributes of style; scripts and style sheets are files of the site. */
export const guidePolicy = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'style-src-attr': ["'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};
