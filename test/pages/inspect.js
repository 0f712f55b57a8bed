// Run in a page: what is wrong with it, as sentences.
(() => {
  const wrong = [];
  const isSeen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const short = (element) => element.outerHTML.replace(/\s+/g, ' ').slice(0, 90);

  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) wrong.push(`scrolls sideways: ${scrollWidth} in ${clientWidth}`);
  for (const element of document.querySelectorAll('main *')) {
    if (isSeen(element) && element.getBoundingClientRect().right > clientWidth + 0.5)
      wrong.push(`sticks out: ${short(element)}`);
  }

  for (const field of document.querySelectorAll('input:not([type=hidden]), select, textarea')) {
    if (field.labels.length === 0 && !field.hasAttribute('aria-label')) wrong.push(`no label: ${short(field)}`);
    for (const id of (field.getAttribute('aria-describedby') ?? '').split(' ').filter(Boolean)) {
      if (document.getElementById(id) === null) wrong.push(`described by ${id}, which is not there`);
    }
    if (!field.hasAttribute('autocomplete') && !['checkbox', 'radio'].includes(field.type))
      wrong.push(`no autocomplete: ${short(field)}`);
  }
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of new Set(ids)) if (ids.filter((one) => one === id).length > 1) wrong.push(`two of #${id}`);
  for (const link of document.querySelectorAll('a[href^="#"]')) {
    if (document.querySelector(link.getAttribute('href')) === null) wrong.push(`leads to nothing: ${short(link)}`);
  }
  for (const button of document.querySelectorAll('button, a.button')) {
    if (isSeen(button) && button.getBoundingClientRect().height < 43.9)
      wrong.push(`too small to touch: ${short(button)}`);
  }

  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const luminance = ({ red, green, blue }) => {
    const [r, g, b] = [red, green, blue].map((part) =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.alpha === 1) return colour;
    }
    return { red: 255, green: 255, blue: 255 };
  };
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (texts.currentNode.data.trim() === '' || !isSeen(element)) continue;
    const [dark, light] = [luminance(parse(getComputedStyle(element).color)), luminance(behind(element))].sort(
      (a, b) => a - b,
    );
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${short(element)}`);
  }
  return wrong;
})();
