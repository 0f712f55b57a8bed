/** The graph editor of a drawn policy: drawing, outline, forms, undo, the path of a try, errors at their nodes, the keyboard alone. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import type { PolicyGraph } from '../../server/policies/graph/schema.ts';
import { until } from '../helpers/wait.ts';
import { configClient } from '../policies/config-client.ts';
import { types } from '../relationships/sharing.ts';
import { drawn as isDrawn } from './axe.ts';
import { lookAround } from './looks.ts';
import { axe, createPortal, executablePath, look } from './portal.ts';

const drawn: PolicyGraph = {
  nodes: [
    { id: 'begin', type: 'start' },
    {
      ...{ id: 'licensed', type: 'condition', match: 'all' },
      conditions: [
        { type: 'attribute', path: 'subject.license', operator: 'eq', value: 'valid' },
        { type: 'attribute', path: 'subject.age', operator: 'gte', value: 18 },
      ],
    },
    {
      ...{ id: 'night', type: 'condition' },
      conditions: [{ type: 'time', fromTime: '22:00', toTime: '06:00', timezone: 'Europe/Amsterdam' }],
    },
    {
      id: 'experienced',
      type: 'condition',
      conditions: [{ type: 'attribute', path: 'subject.age', operator: 'gte', value: 21 }],
    },
    { id: 'drive', type: 'outcome', outcome: 'allow' },
    { id: 'carefully', type: 'outcome', outcome: 'allow', obligations: ['show-night-driving-advice'] },
    {
      id: 'unlicensed',
      type: 'outcome',
      outcome: 'deny',
      reason: 'drivers need a valid license and must be 18 or older',
    },
  ],
  edges: [
    { from: 'begin', to: 'licensed' },
    { from: 'licensed', on: 'true', to: 'night' },
    { from: 'licensed', on: 'false', to: 'unlicensed' },
    { from: 'night', on: 'true', to: 'experienced' },
    { from: 'night', on: 'false', to: 'drive' },
    { from: 'experienced', on: 'true', to: 'carefully' },
  ],
};
const open: PolicyGraph = {
  nodes: [
    { id: 'start', type: 'start' },
    { id: 'end', type: 'outcome', outcome: 'allow', reason: 'drawn' },
  ],
  edges: [{ from: 'start', to: 'end' }],
};

describe.skipIf(executablePath === undefined)('the graph editor', async () => {
  if (executablePath === undefined) return;
  const site = await createPortal({ role: 'config-editor' });
  const { server, tenant, people } = site;
  const config = await configClient(server, tenant);
  const put = async (path: string, body: object) => {
    const answer = await config('PUT', path, { body });
    expect([path, answer.status, answer.body]).toEqual([path, 200, {}]);
  };
  for (const [path, body] of types) await put(path, body);
  await put('/policies/car%3Adrive', { graph: drawn });
  for (const name of ['add', 'keys', 'move', 'wrong']) await put(`/policies/car%3A${name}`, { graph: open });

  const policy = (name: string) => `${site.base}/portal/t/${tenant}/policies/${encodeURIComponent(name)}`;
  const graphOf = async (name: string): Promise<PolicyGraph> =>
    (await config('GET', `/policies/${encodeURIComponent(name)}`)).body.graph;
  const card = (page: Page, id: string) => page.locator(`.react-flow__node[data-id="${id}"]`);
  const row = (page: Page, id: string) =>
    page.getByRole('navigation', { name: 'Outline' }).locator(`[data-node="${id}"]`);
  const save = async (page: Page) => {
    await page.getByRole('button', { name: 'Save…' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^Revision \d+ is saved and served/).waitFor();
  };
  const start = async (page: Page, name: string) => {
    await page.goto(policy(name));
    await card(page, name === 'car:drive' ? 'begin' : 'start').waitFor();
  };
  const decision = async (name: string, subject: object) => {
    const { body } = await config('POST', `/policies/${encodeURIComponent(name)}/test`, {
      body: { input: { subject, resource: { type: 'car', id: 'c1' }, ...(subject as { facts?: object }).facts } },
    });
    return body.outcome;
  };

  test('is drawn, in both widths and themes', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await start(page, 'car:drive');
    // Yes stands left of no, below its question, once the view has stopped moving.
    const at = async (id: string) => (await card(page, id).boundingBox())!;
    const places = async () => {
      const [night, unlicensed, licensed] = [await at('night'), await at('unlicensed'), await at('licensed')];
      return [night.x < unlicensed.x, night.y > licensed.y + licensed.height];
    };
    await expect.poll(places).toEqual([true, true]);
    // The question that is tried goes through two nodes: they and their edges are thick.
    await page.locator('.graph-card.taken').nth(2).waitFor();
    await expect.poll(() => page.locator('.graph-way.taken').count()).toBe(2);
    await lookAround(page, 'graph');
    await row(page, 'night').click();
    await page.getByRole('complementary', { name: /^Edit: It is between/ }).waitFor();
    await lookAround(page, 'graph-form');
    expect(complaints).toEqual([]);
  });

  test('the Rego that it becomes stands beside it, of the drawing as it is now; lines and nodes mark each other', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await start(page, 'car:drive');
    await page.getByText('The Rego that the drawing becomes').click();
    const rego = page.getByRole('textbox', { name: 'The Rego that the drawing becomes' });
    await rego.getByText('at_night :=').waitFor();
    // A node of the drawing marks its lines.
    await row(page, 'night').click();
    await page.locator('.cm-told-line').getByText('# Condition "night"').waitFor();
    await lookAround(page, 'graph-rego');
    // A line marks its node, also by keyboard.
    await rego.getByText('at_licensed :=').click();
    await page.locator('.graph-card.condition.marked').getByText('All of:').waitFor();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Control+Home');
    const outcome = page.locator('.graph-card.outcome.marked');
    // Long lines take several rows of the screen.
    for (let row = 1; row < 12 && (await outcome.count()) === 0; row++) {
      await page.keyboard.press('ArrowDown');
      await page.evaluate(isDrawn);
    }
    await outcome.waitFor();
    // What is drawn and not saved is shown as well; with an error, what it was before.
    await row(page, 'experienced').click();
    await page.getByLabel('Value', { exact: true }).fill('25');
    await rego.getByText('input.subject.age >= 25').waitFor();
    await page.getByLabel('Where the value is').fill('');
    await page.getByText('This is the Rego that it became before').waitFor();
    await page.keyboard.press('Control+z');
    await page.getByText('This is the Rego that it became before').waitFor({ state: 'detached' });
    // Undone to what is stored, nothing is left to save.
    await page.keyboard.press('Control+z');
    await page.getByText('Nothing is changed.').waitFor();
    await rego.getByText('input.subject.age >= 21').waitFor();
    expect(complaints.filter((one) => !/400/.test(one))).toEqual([]);
  });

  test('the answer leads to a node and back, by keyboard', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await start(page, 'car:drive');
    const answer = page.getByRole('region', { name: 'Answer and why' });
    const focused = (attribute: string) => page.evaluate(`document.activeElement.${attribute}`);
    const said = 'drivers need a valid license and must be 18 or older. The drawn policy car:drive leads there.';
    await answer.getByText(`Denied: ${said}`).waitFor();
    // Each condition as its card says it.
    for (const sentence of ['subject.license is “valid”', 'subject.age is at least 18'])
      await answer.getByRole('listitem').filter({ hasText: sentence }).last().getByText('does not hold').waitFor();
    expect(await answer.getByText('First condition that does not hold').count()).toBe(0);
    const node = answer.getByRole('button', { name: 'unlicensed' });
    await node.focus();
    await page.keyboard.press('Enter');
    await expect.poll(() => focused('dataset.node')).toBe('unlicensed');
    await page.locator('.graph-card.outcome.marked').getByText('Deny').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Alt+Enter');
    await expect.poll(() => focused('textContent')).toBe('unlicensed');
    await expect.poll(() => node.getAttribute('aria-current')).toBe('true');
    // From any node of the drawing, also when the answer is folded; a node that it does not tell of leads nowhere.
    await page.getByRole('button', { name: 'Answer and why' }).click();
    await row(page, 'begin').focus();
    await page.keyboard.press('Alt+Enter');
    await expect.poll(() => focused('textContent')).toBe('begin');
    await row(page, 'drive').focus();
    await page.keyboard.press('Alt+Enter');
    expect(await focused('dataset.node')).toBe('drive');
    expect(complaints).toEqual([]);
  });

  test('a question is put on an edge, filled in and saved; the decision follows', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    expect(await decision('car:add', { id: 'bob' })).toBe('allow');
    await start(page, 'car:add');
    await page.locator('.graph-way-words').getByRole('button', { name: 'Add a question after start' }).click();
    await card(page, 'question').waitFor();
    // What is not filled in yet is said on the card.
    await card(page, 'question')
      .getByText(/is missing/)
      .waitFor();
    await look(page, 'graph-error');
    const form = page.getByRole('complementary', { name: /^Edit:/ });
    const offered = () =>
      form
        .locator('datalist option')
        .evaluateAll((all) => all.map((one) => (one as unknown as { value: string }).value));
    await expect.poll(offered).toContain('drives');
    await form.getByLabel('Relationship type').fill('drives');
    await card(page, 'question').getByText('The user drives this car').waitFor();
    await card(page, 'question')
      .getByText(/is missing/)
      .waitFor({ state: 'detached' });
    await page.locator('.graph-open').getByRole('button', { name: 'Deny at no after question' }).click();
    await form.getByLabel('Reason for the caller').fill('not a driver');
    await card(page, 'deny').getByText('not a driver').waitFor();
    await save(page);
    expect(await decision('car:add', { id: 'bob' })).toBe('deny');
    const link = { relationshipType: 'drives', type: 'drives', to: { type: 'car', id: 'c1' } };
    expect(await decision('car:add', { id: 'bob', facts: { graph: { subject: [link] } } })).toBe('allow');
    expect((await graphOf('car:add')).nodes).toContainEqual({
      id: 'deny',
      type: 'outcome',
      outcome: 'deny',
      reason: 'not a driver',
    });
    // Undo: what was typed is one step, and each node is one.
    await page.getByRole('button', { name: 'Undo', exact: true }).first().click();
    await card(page, 'deny').getByText('not a driver').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await card(page, 'deny').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+z');
    await card(page, 'question').getByText('The user … this car').waitFor();
    await page.keyboard.press('Control+z');
    await card(page, 'question').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+Shift+z');
    await card(page, 'question').waitFor();
    expect(complaints.filter((one) => !/400/.test(one))).toEqual([]);
  });

  test('by keyboard alone: a question, its kind, an outcome, where it leads, removing, undo', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await start(page, 'car:keys');
    const press = (...keys: string[]) =>
      keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    await row(page, 'start').focus();
    await press('Tab', 'Tab', 'Enter');
    await card(page, 'question').waitFor();
    const focused = () =>
      page.evaluate('document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent');
    await expect.poll(focused).toBe('Kind');
    await page.keyboard.type('Cons');
    await press('Tab');
    await expect.poll(focused).toBe('Consent');
    await page.keyboard.type('trips');
    await card(page, 'question').getByText('The user agrees to trips').waitFor();
    await press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.node')).toBe('question');
    // The outline: the question, yes with its outcome and +, no with +, allow and deny.
    await press('Tab', 'Tab', 'Tab', 'Tab', 'Tab', 'Tab');
    await expect.poll(() => page.evaluate('document.activeElement.title')).toBe('Deny at no after question');
    await press('Enter');
    await card(page, 'deny').waitFor();
    await press('Escape');
    await save(page);
    expect((await graphOf('car:keys')).edges).toContainEqual({ from: 'question', on: 'false', to: 'deny' });
    await row(page, 'question').focus();
    await press('Enter');
    await page.getByLabel('No leads to').selectOption('');
    await card(page, 'open question false').waitFor();
    await press('Control+z');
    await card(page, 'open question false').waitFor({ state: 'detached' });
    await press('Escape');
    await expect.poll(() => page.evaluate('document.activeElement.dataset.node')).toBe('question');
    await press('Delete');
    await card(page, 'question').waitFor({ state: 'detached' });
    await row(page, 'end').waitFor();
    await press('Control+z');
    await card(page, 'question').waitFor();
    expect(await axe(page)).toEqual([]);
    // A step that ends the form in which the focus is does not end the keys.
    await row(page, 'end').focus();
    await press('Tab', 'Enter');
    await card(page, 'question-2').waitFor();
    await press('Control+z');
    await card(page, 'question-2').waitFor({ state: 'detached' });
    await press('Control+Shift+z');
    await card(page, 'question-2').waitFor();
    expect(complaints.filter((one) => !/400/.test(one))).toEqual([]);
  });

  test('a card that is dragged stays where it is; an edge is drawn by dragging; Arrange lays all out again', async () => {
    await using opened = await site.open();
    const { page, complaints } = opened;
    await start(page, 'car:move');
    const drag = async (from: { x: number; y: number }, to: { x: number; y: number }) => {
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 8 });
      await page.mouse.up();
    };
    // The view moves for a moment after it was opened or changed: it stands when it does for so many drawings.
    const middle = async (selector: string) => {
      const found = page.locator(selector).first();
      const box = await until(`${selector} that stands still`, async () => {
        const before = await found.boundingBox();
        for (let drawing = 0; drawing < 6; drawing++) await page.evaluate(isDrawn);
        const after = await found.boundingBox();
        return before?.x === after?.x && before?.y === after?.y ? after : null;
      });
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    };
    const end = await middle('.react-flow__node[data-id="end"]');
    await drag(end, { x: end.x + 180, y: end.y + 60 });
    await page.getByText('Not saved', { exact: true }).waitFor();
    await save(page);
    const place = (await graphOf('car:move')).nodes.find(({ id }) => id === 'end')?.position;
    await page.reload();
    await card(page, 'end').waitFor();
    expect(place!.x).toBeGreaterThan(100);
    const transform = () =>
      card(page, 'end').evaluate((node) => (node as unknown as { style: { transform: string } }).style.transform);
    await expect.poll(transform).toContain(`${place!.x}px`);
    await page.locator('.graph-way-words').getByRole('button', { name: 'Add a question after start' }).click();
    await card(page, 'question').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await drag(
      await middle('[data-id="question"] .react-flow__handle.no'),
      await middle('[data-id="end"] .react-flow__handle'),
    );
    await card(page, 'open question false').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Arrange' }).click();
    await expect.poll(() => page.getByRole('button', { name: 'Arrange' }).isDisabled()).toBe(true);
    await look(page, 'graph-moved');
    expect(complaints.filter((one) => !/400/.test(one))).toEqual([]);
  });

  test('who may not edit reads it', async () => {
    const { browser } = await people.enrolled(tenant, 'config-viewer');
    const cookies = browser.cookies.map(({ name, value }) => ({ name, value, url: `${site.base}/` }));
    await using opened = await site.open({ locale: 'nl-NL' }, cookies);
    const { page, complaints } = opened;
    await start(page, 'car:drive');
    expect(await page.getByRole('button', { name: /Vraag toevoegen/ }).count()).toBe(0);
    await card(page, 'night').getByRole('button').click();
    await page.getByRole('complementary', { name: /^Bewerken: Het is tussen 22:00 en 06:00/ }).waitFor();
    expect(await page.getByRole('button', { name: 'Verwijderen' }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await look(page, 'graph-viewer');
    expect(complaints).toEqual([]);
  });
});
