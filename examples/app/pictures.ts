import { Html } from './html.ts';

export const wheel = new Html(
  '<svg class="wheel" viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="9.5"/><circle cx="12" cy="12" r="2.5"/><path d="M2.5 12h7M14.5 12h7M12 14.5v7"/></svg>',
);

export const picture = new Html(`<svg class="car" viewBox="0 0 240 110" aria-hidden="true">
  <ellipse class="shade" cx="120" cy="98" rx="105" ry="7"/>
  <path class="body" d="M18 84c-6 0-9-4-9-10V62c0-8 5-12 13-13l34-5c16-16 30-28 52-28h28c22 0 35 14 47 28 22 2 46 6 48 22v10c0 6-3 9-9 9Z"/>
  <path class="glass" d="M72 44c11-11 21-18 36-18h8v18Zm54-18h10c14 0 24 8 33 18h-43Z"/>
  <path class="line" d="M121 50v28M132 54h12"/>
  <path class="lamp" d="M211 57c7 1 15 4 18 9h-16ZM12 56h10v9H10Z"/>
  <g class="tyre"><circle cx="62" cy="84" r="17"/><circle cx="180" cy="84" r="17"/></g>
  <g class="hub"><circle cx="62" cy="84" r="8"/><circle cx="180" cy="84" r="8"/></g>
</svg>`);
