/** Our own icons: 16 px, strokes of 1.5 px, in the colour of the text. They stand beside words and say nothing by themselves. */
const paths = {
  overview: 'M2 13V8m4 5V3m4 10V6m4 7v-3',
  policies: 'M4 1.75h5L12.25 5v9.25H4zM9 1.75V5h3.25M6.25 8h4M6.25 11h4',
  model:
    'M3.5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm9 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4Zm0-9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM5.5 3.5h5M5 5l6 6m1.5-5.5v5',
  consents: 'M8 1.75 13.25 4v4c0 3-2.25 5.25-5.25 6.25C5 13.25 2.75 11 2.75 8V4zM5.75 8l1.75 1.75L10.5 6.5',
  people:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c.5-2.5 2.25-4 4.5-4s4 1.5 4.5 4M11 2.75a2.5 2.5 0 0 1 0 4.5m1 2.5c1.25.5 2.25 1.75 2.5 3.75',
  activity: 'M1.5 8h3l2-5.5 3 11 2-5.5h3',
  settings:
    'M2 4.5h7m3 0h2M2 11.5h2m3 0h7M10.5 6.25a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5Zm-5 7a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5Z',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10Zm3.75-1.25L14 14',
  plus: 'M8 3v10M3 8h10',
  close: 'm4 4 8 8m0-8-8 8',
  check: 'm3 8.5 3.25 3.25L13 4.75',
  deny: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.75 3.75l8.5 8.5',
  allow: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM5.25 8.25l2 2 3.5-4',
  warning: 'M8 2 14.5 13.5h-13zM8 6.5V9.5m0 2v.25',
  error: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9v4m0 2v.25',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-7v4m0-6.25V5',
  lock: 'M3.5 7.25h9v6.5h-9zM5.25 7V5a2.75 2.75 0 0 1 5.5 0v2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.25v-2.75h-8v8h2.75',
  chevronDown: 'm4 6 4 4 4-4',
  chevronRight: 'm6 4 4 4-4 4',
  arrowLeft: 'M13 8H3m4-4L3 8l4 4',
  menu: 'M2.5 4h11M2.5 8h11M2.5 12h11',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5m0 11V15M1 8h1.5m11 0H15M3 3l1 1m8 8 1 1M3 13l1-1m8-8 1-1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z',
  code: 'm5 4.5-3.5 3.5L5 11.5m6-7 3.5 3.5-3.5 3.5M9.25 3l-2.5 10',
  filter: 'M2 3.5h12L9.5 8.75V13l-3-1.5V8.75z',
  refresh: 'M13.5 8A5.5 5.5 0 1 1 11.75 4L13.5 5.75m0-3.5v3.5H10',
  trash: 'M2.5 4.25h11M6 4V2.25h4V4M4 4.25l.75 9.5h6.5L12 4.25M6.75 7v4m2.5-4v4',
  edit: 'M10.5 2.75l2.75 2.75L6 12.75l-3.5.75.75-3.5z',
  external: 'M9 2.5h4.5V7M13.25 2.75 7 9M6.5 3.5h-4v10h10v-4',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.5V8l2.5 1.5',
  link: 'M6.5 9.5a2.5 2.5 0 0 0 3.5 0l3-3A2.5 2.5 0 0 0 9.5 3L8.25 4.25M9.5 6.5a2.5 2.5 0 0 0-3.5 0l-3 3A2.5 2.5 0 0 0 6.5 13l1.25-1.25',
  mail: 'M2 3.5h12v9H2zm.25.5L8 8.5 13.75 4',
  download: 'M8 2v8m-3.25-3L8 10.25 11.25 7M2.5 13.5h11',
  undo: 'M3 6h6.5a3.75 3.75 0 0 1 0 7.5H6M6 2.75 2.75 6 6 9.25',
  person: 'M8 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM2.75 14c.5-2.75 2.5-4.25 5.25-4.25S12.75 11.25 13.25 14',
  help: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM6.25 6.25A1.75 1.75 0 1 1 8 8.25V9m0 2v.25',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg className="icon" viewBox="0 0 16 16" width={size} height={size} aria-hidden="true" focusable="false">
    <path
      d={paths[name]}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    />
  </svg>
);
