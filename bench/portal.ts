/**
 * Measures the portal in Chromium with a million relationships and a million entries of the ledger behind: its first page from cold,
 * changing pages, dragging in large drawings; a page of GraphQL against the same rows by direct SQL; and what all of it takes of a
 * server's memory that nobody uses it on. Times are the page's own: from the click, or the beginning of the navigation, to the frame
 * that shows what was asked for.
 *
 *     bench/portal.ts [--rows 1000000] [--rounds 15] [--only first|pages|drag|graphql|memory]
 */
import { readFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { buildPortal } from '../cli/portal-build.ts';
import { portalDirectory } from '../cli/portal-digest.ts';
import { createInstallation, type ServerProcess, startProcess, userId } from './installation.ts';
import { change, type Drag, drag, launch, open, openPage, type Site, type Visit } from './portal-browser.ts';
import { measureGraphql } from './portal-graphql.ts';
import { configure, configureWide, DEFINITION, HUB, logIn, seed } from './portal-seed.ts';
import { median, noise, percentile, table, target } from './report.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '15' },
    only: { type: 'string' },
  },
});
const ROWS = Number(values.rows);
const ROUNDS = Number(values.rounds);
const COLD_ROUNDS = 5;
const MEMORY_ROUNDS = 5;
const BOXES = 300;
/** As many as a drawn policy may have. */
const CARDS = 200;

const person = encodeURIComponent(userId(7));
const rows = 'tbody tr.opens';
type Place = { name: string; path: string; shown: string[]; judged?: true };
const overview: Place = { name: 'Overview', path: '/overview', shown: ['.charts svg', '.lead'], judged: true };
const explored = ['.model-columns tbody tr td.mono, .model-columns tbody .mono', '.react-flow__node'];
/** What the target is about, and other pages that read much. */
const places: Place[] = [
  overview,
  { name: 'Model, types', path: '/model', shown: ['.react-flow__node'] },
  {
    ...{ name: 'Model explorer, a person', path: `/model/relationships?type=user&id=${person}` },
    ...{ shown: explored, judged: true },
  },
  { name: 'Model, invitations', path: '/model/invitations', shown: ['tbody tr td'] },
  {
    ...{ name: 'Model explorer, a hub', path: `/model/relationships?type=${HUB.type}&id=${HUB.id}` },
    ...{ shown: explored, judged: true },
  },
  { name: 'Consents, adoption', path: `/consents/${DEFINITION}`, shown: ['td.numeric'], judged: true },
  { name: 'Consents, given', path: '/consents/given', shown: [rows] },
  { name: 'Consents, ledger', path: '/consents/ledger', shown: [rows] },
  { name: 'Consents, given to version 1', path: `/consents/given?name=${DEFINITION}&version=1`, shown: [rows] },
  { name: 'People, found', path: '/people?q=auth0%7C00000', shown: [rows], judged: true },
  { name: 'Consents, ledger of what was erased', path: '/consents/ledger?type=erased', shown: ['.empty, p.dim'] },
  {
    ...{ name: 'People, a person', path: `/people/user/${person}`, judged: true },
    shown: ['ol.moments li', 'ul.person-list li', '.person-facts dd'],
  },
  { name: 'Activity, decisions', path: '/activity', shown: [rows], judged: true },
  { name: 'Policy', path: '/policies/car%3Adrive', shown: ['.cm-content'] },
  { name: 'Activity, denials', path: '/activity?outcome=deny&reason=not+a+driver', shown: [rows] },
  { name: 'Activity, events', path: '/activity/events', shown: ['tbody td.numeric'], judged: true },
  { name: 'Activity, mail', path: '/activity/mail', shown: ['tbody tr td'] },
  { name: 'Settings, audit', path: '/settings/audit', shown: ['tbody tr td'] },
];

/** Of the files below portal/dist that the first page loaded, its document too. */
async function gzipBytes(files: readonly string[]): Promise<number> {
  const assets = [...new Set(files)].filter((file) => file.startsWith('/portal/assets/'));
  const all = [...assets.map((file) => file.slice('/portal/'.length)), 'index.html'];
  const sizes = await Promise.all(
    all.map(async (file) => gzipSync(await readFile(join(portalDirectory, 'dist', file))).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function measureFirst(site: Site): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  for (let round = 0; round < COLD_ROUNDS; round++) {
    const browser = await launch();
    const page = await openPage(browser, site, false);
    const { ms, files } = await open(page, `${site.base}/portal/t/bench${overview.path}`, overview.shown);
    times.push(ms);
    bytes = await gzipBytes(files);
    await browser.close();
  }
  console.log(`first page, each in a new Chromium without a cache: ${times.map((ms) => ms.toFixed(0)).join(' ')} ms`);
  const p50 = median(times);
  target('first page usable', '≤ 1500 ms', `median ${p50.toFixed(0)} ms`, p50 <= 1500);
  target('first page, gzip', '≤ 200 KiB', `${(bytes / 1024).toFixed(1)} KiB`, bytes <= 200 * 1024);
  console.log(noise(times));
}

type Measured = Visit & { serverMs: number };

async function measurePages(browser: Browser, site: Site, server: ServerProcess): Promise<void> {
  const measured = new Map(places.map((place) => [place, [] as Measured[]]));
  const page = await openPage(browser, site);
  for (let round = 0; round < ROUNDS; round++) {
    // A new document each round: nothing is left of what the one before had asked for, but for the files.
    await open(page, `${site.base}/portal/t/bench/settings/members`, ['h1']);
    for (const [place, visits] of measured) {
      const before = await server.usage();
      const visit = await change(page, `/portal/t/bench${place.path}`, place.shown);
      visits.push({ ...visit, serverMs: ((await server.usage()).cpuUs - before.cpuUs) / 1000 });
    }
  }
  await page.context().close();
  const ms = (visits: readonly Measured[]) => visits.map((one) => one.ms);
  const line = ([place, visits]: [Place, Measured[]]) => {
    const slow = visits.map((one) => one.slowest).sort((one, other) => one.ms - other.ms)[visits.length >> 1];
    const first = visits[0] as Measured;
    return [
      ...[place.name, median(ms(visits)).toFixed(0), percentile(ms(visits), 0.95).toFixed(0), first.ms.toFixed(0)],
      ...[median(visits.map((one) => one.cpuMs)).toFixed(0), median(visits.map((one) => one.serverMs)).toFixed(0)],
      ...[first.requests, slow?.ms.toFixed(0) ?? '', slow?.path.replace('/tenants/bench', 'C') ?? ''],
    ];
  };
  const all = [...measured];
  const header = [
    'page',
    'p50 ms',
    'p95',
    'first visit',
    'CPU of the page',
    'of the server',
    'requests',
    'slowest p50',
  ];
  table([...header, 'which'], all.map(line));
  for (const [{ name, judged }, visits] of all) {
    const p50 = median(ms(visits));
    if (judged) target(`page change, ${name}`, '≤ 300 ms', `p50 ${p50.toFixed(0)} ms`, p50 <= 300);
  }
  console.log(`load ${loadavg()[0]?.toFixed(1)}`);
}

async function measureDrags(browser: Browser, site: Site): Promise<void> {
  const drawings = [
    { name: `a card among ${CARDS} of a policy`, path: '/policies/thing%3Ause', node: '[data-id="card-3"]' },
    { name: `a picture of ${BOXES} boxes`, path: '/model', node: undefined },
    {
      name: `a line in a picture of ${BOXES} boxes`,
      path: '/model',
      node: '[data-id="actor-types/user"]',
      dot: '.begin',
    },
  ];
  for (const { name, path, node, dot } of drawings) {
    const frames: number[] = [];
    const cpu: number[] = [];
    const p95: number[] = [];
    const keep = (dragged: Drag) => {
      frames.push(...dragged.frames);
      p95.push(percentile(dragged.frames, 0.95));
      cpu.push(dragged.cpuMs);
    };
    for (let round = 0; round < COLD_ROUNDS; round++) {
      const page = await openPage(browser, site);
      await open(page, `${site.base}/portal/t/wide${path}`, ['.react-flow__node']);
      await page.waitForTimeout(1000);
      const box = await page
        .locator(`.react-flow__node${node ?? ''}`)
        .first()
        .boundingBox();
      const pane = await page.locator('.react-flow__pane').boundingBox();
      if (box === null || pane === null) throw new Error(`${name}: nothing is drawn`);
      // A picture is held where no box is.
      const from = node === undefined ? { x: pane.x + 8, y: pane.y + 8 } : { x: box.x + 12, y: box.y + 8 };
      if (dot !== undefined) {
        // A line leaves a box where it is.
        const hold = await page.locator(`${node} ${dot}`).boundingBox();
        if (hold === null) throw new Error(`${name}: nothing to hold`);
        const drawn = page.locator('.react-flow__connection-path').waitFor({ state: 'attached' });
        const dragged = await drag(page, { x: hold.x + hold.width / 2, y: hold.y + hold.height / 2 });
        await drawn;
        keep(dragged);
        await page.context().close();
        continue;
      }
      const dragged = await drag(page, from);
      const after = await page
        .locator(`.react-flow__node${node ?? ''}`)
        .first()
        .boundingBox();
      if (after?.x === box.x && after.y === box.y) throw new Error(`${name}: nothing was moved`);
      keep(dragged);
      await page.context().close();
    }
    const said = `p95 ${median(p95).toFixed(1)} ms, p50 ${median(frames).toFixed(1)} ms, main thread ${median(cpu).toFixed(1)} ms a frame`;
    target(`dragging ${name}`, 'p95 ≤ 34 ms a frame', said, median(p95) <= 34);
    console.log(noise(p95));
  }
}

/** In turns, each a process of its own at rest: as it is, and without the rooms and routes of the portal. */
async function measureMemory(environment: Record<string, string>, use: (server: ServerProcess) => Promise<void>) {
  const resident = { accord: [] as number[], 'accord-without-portal': [] as number[] };
  const used: number[] = [];
  for (let round = 0; round < MEMORY_ROUNDS; round++) {
    for (const mode of Object.keys(resident) as (keyof typeof resident)[]) {
      const server = await startProcess(mode, environment);
      await server.rest();
      resident[mode].push((await server.usage()).rssMiB);
      if (mode === 'accord' && round === 0) {
        await use(server);
        await server.rest();
        used.push((await server.usage()).rssMiB);
      }
      await server.stop();
    }
  }
  const { accord: ours, 'accord-without-portal': without } = resident;
  const spread = percentile(without, 0.9) - percentile(without, 0.1);
  const more = median(ours) - median(without);
  table(
    ['server at rest', 'resident MiB', 'rounds'],
    [
      ['with the portal, unused', median(ours).toFixed(1), ours.map((one) => one.toFixed(0)).join(' ')],
      ['without its rooms', median(without).toFixed(1), without.map((one) => one.toFixed(0)).join(' ')],
      ['after a member looked at all pages', median(used).toFixed(1), ''],
    ],
  );
  const bound = `≤ ${spread.toFixed(1)} MiB (what rounds without it differ by)`;
  target('memory of a portal that nobody uses', bound, `${more.toFixed(1)} MiB`, more <= spread);
}

const build = buildPortal();
await build.ended;
if (build.building() !== undefined) throw new Error(`the portal was not built: ${JSON.stringify(build.building())}`);
const installation = await createInstallation({ durable: false });
const parts = ['first', 'pages', 'drag', 'graphql', 'memory'] as const;
const wanted = parts.filter((part) => values.only === undefined || values.only === part);
try {
  await configure(installation, 'bench');
  if (wanted.includes('drag')) await configureWide(installation, 'wide', BOXES, CARDS);
  await seed(installation, 'bench', ROWS);
  const session = await logIn(installation, ['bench', ...(wanted.includes('drag') ? ['wide'] : [])]);
  const siteOf = ({ port }: ServerProcess): Site => ({ base: `http://127.0.0.1:${port}`, session });
  const browser = await launch();
  const server = await startProcess('accord', installation.environment);
  if (wanted.includes('first')) await measureFirst(siteOf(server));
  if (wanted.includes('pages')) await measurePages(browser, siteOf(server), server);
  if (wanted.includes('drag')) await measureDrags(browser, siteOf(server));
  if (wanted.includes('graphql')) await measureGraphql(installation, server);
  await server.stop();
  if (wanted.includes('memory'))
    await measureMemory(installation.environment, async (used) => {
      const page = await openPage(browser, siteOf(used));
      await open(page, `${siteOf(used).base}/portal/t/bench/settings/members`, ['h1']);
      for (const place of places) await change(page, `/portal/t/bench${place.path}`, place.shown);
      await page.context().close();
    });
  await browser.close();
} finally {
  await installation.close();
}
