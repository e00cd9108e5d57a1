// From a login to a downloaded network, as a person does it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { ADDRESS, DESKTOP, dropFile, launch, PHONE, TOKEN, Watched } from './browser.ts';

const HOSTILE = '<script>alert(1)<script><img src=x onerror=alert(2)>.onnx';
const SAMPLES = 16;

let browser: Browser;
let here: Watched;
const jobs: string[] = [];
let records = '';

before(async () => {
  browser = await launch();
  here = await Watched.open(browser);
});
after(async () => {
  await here.close();
  await browser.close();
});

// A sample of the model's input, x: f32[1,16,14,14], in NumPy's format.
function sampleOf(seed: number): Buffer {
  const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 16, 14, 14), }".padEnd(117) + '\n';
  const values = Float32Array.from({ length: 16 * 14 * 14 }, (_, i) => Math.sin(i * (seed + 1)));
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), Buffer.from([header.length, 0]), Buffer.from(header), Buffer.from(values.buffer)]);
}

async function submit(page: Page, name: string, trials = 16): Promise<string> {
  await page.getByRole('link', { name: 'Tune a model' }).first().click();
  await page.getByRole('heading', { name: 'Tune a model' }).waitFor();
  await dropFile(page, name);
  await page.locator('.file-row').getByText('sent', { exact: true }).waitFor();
  await page.getByLabel('Trials').fill(String(trials));
  await page.getByRole('button', { name: 'Start tuning' }).click();
  await page.waitForURL('**/jobs/*');
  return decodeURIComponent(new URL(page.url()).pathname.split('/')[2] ?? '');
}

test('a wrong token gets the server’s sentence, a right one a session that scripts cannot read', async () => {
  const { page } = here;
  await here.goto('/');
  await page.keyboard.press('Tab');
  await page.keyboard.type('attune_wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'token' }).waitFor();
  await here.shoot('login');
  assert.deepEqual(await here.axe(), []);
  await here.login();
  const cookies = await here.context.cookies();
  assert.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite !== 'None'));
  assert.equal(await page.evaluate(() => document.cookie), '');
});

test('an empty list says what to do next', async () => {
  await here.page.getByText('No jobs yet').waitFor();
  await here.shoot('jobs-empty');
  assert.deepEqual(await here.axe(), []);
});

test('a model with a hostile name is dropped, tuned live and downloaded', async () => {
  const { page } = here;
  const id = await submit(page, HOSTILE);
  jobs.push(id);
  await page.locator('.gantt-bar').first().waitFor({ state: 'attached' });
  await here.shoot('job-live');
  await page.getByRole('link', { name: 'Download the tuned network' }).waitFor();
  assert.equal(await page.locator('th', { hasText: HOSTILE }).count(), 1);
  assert.equal(await page.locator('img').count(), 0);
  await page.getByRole('region', { name: 'Gains of tasks' }).waitFor();
  await page.locator('.chart canvas').first().waitFor();

  const started = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download the tuned network' }).click();
  const file = await (await started).path();
  const shown = (await (await here.context.request.get(`${ADDRESS}/v1/jobs/${id}`)).json()) as { files: { name: string; sha256: string }[] };
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  assert.equal(digest, shown.files.find(({ name }) => name === 'out/result.atn')?.sha256);
});

test('the list of jobs changes by itself', async () => {
  const { page } = here;
  const other = await Watched.open(browser);
  await other.login();
  jobs.push(await submit(page, 'plain.onnx'));
  const row = other.page.locator('.job-row', { hasText: jobs[1] ?? '' });
  await row.waitFor();
  await row.getByText('done', { exact: true }).waitFor();
  await other.close();
});

test('two jobs are compared from the list', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  for (const id of jobs) await page.getByLabel(`Compare ${id}`, { exact: true }).check();
  await page.getByRole('button', { name: 'Compare' }).click();
  await page.getByRole('region', { name: 'Kernels of both' }).waitFor();
  assert.equal(await page.getByRole('region', { name: 'Summary' }).getByText('done').count(), 2);
});

test('records show each trial of a kernel', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Records' }).click();
  await page.getByLabel('Job', { exact: true }).selectOption(jobs[0] ?? '');
  await page.getByRole('region', { name: 'Kernels' }).getByRole('button').last().click();
  await page.getByRole('region', { name: 'Trials' }).getByText('ok', { exact: true }).first().waitFor();
  records = new URL(page.url()).search;
});

test('models are imported, and a bad one gets the importer’s sentence', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Models' }).click();
  await dropFile(page, HOSTILE);
  const row = page.locator('.model-row', { hasText: HOSTILE });
  await row.getByText('ready').waitFor();
  await row.getByText('What it computes').click();
  await row.getByText('GFLOP an inference').waitFor();
  await page.getByRole('button', { name: `Remove ${HOSTILE}` }).click();
  await dropFile(page, 'broken.onnx', Buffer.from('no model'));
  const broken = page.locator('.model-row', { hasText: 'broken.onnx' });
  await broken.getByText('refused').waitFor();
  assert.match(await broken.locator('.bad').innerText(), /broken\.onnx/);
  await page.getByRole('link', { name: `Tune ${HOSTILE}` }).click();
  await page.getByText('which the server has').waitFor();
});

test('a token is made, used and revoked', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Access' }).click();
  await page.getByLabel('Name', { exact: true }).fill('<b>for a viewer</b>');
  await page.getByLabel('Role').selectOption('viewer');
  await page.getByRole('button', { name: 'Make a token' }).click();
  const text = await page.locator('.secret').innerText();
  const viewer = await Watched.open(browser);
  await viewer.login(text);
  assert.equal(await viewer.page.getByRole('link', { name: 'Tune a model' }).count(), 0);
  await page.getByRole('button', { name: 'Revoke <b>for a viewer</b>' }).click();
  await page.getByRole('button', { name: 'Really revoke <b>for a viewer</b>' }).click();
  await page.getByRole('rowheader', { name: '<b>for a viewer</b>' }).waitFor({ state: 'detached' });
  await viewer.page.getByRole('link', { name: 'Devices' }).click();
  await viewer.page.getByRole('heading', { name: 'Log in' }).waitFor();
  await viewer.close();
});

test('samples quantize a model, and each way has its loss and its file', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Tune a model' }).first().click();
  await dropFile(page, 'plain.onnx');
  await page.locator('.file-row').getByText('sent', { exact: true }).waitFor();
  await page.getByLabel('Quantize').check();
  await page.getByRole('button', { name: 'What can be promised?' }).click();
  await page.getByRole('alert').getByText('add samples first').waitFor();
  const folder = mkdtempSync(join(tmpdir(), 'samples-'));
  for (let i = 1; i < SAMPLES; ++i) writeFileSync(join(folder, `${i}.npy`), sampleOf(i));
  writeFileSync(join(folder, '.hidden'), 'no sample');
  await page.getByLabel('Choose a folder').setInputFiles(folder);
  await page.getByLabel('Drop samples here').setInputFiles({ name: '0.npy', mimeType: '', buffer: sampleOf(0) });
  await page.locator('.file-row').getByText('sent', { exact: true }).nth(SAMPLES).waitFor();
  rmSync(folder, { recursive: true });
  await page.getByLabel('Hold out one sample in').fill('2');
  await page.getByLabel('Preprocessing').selectOption('torch');
  await page.getByLabel('Loss of accuracy, %').fill('100');
  await page.getByRole('button', { name: 'What can be promised?' }).click();
  await page.getByRole('region', { name: 'Promises' }).getByRole('rowheader', { name: 'Loss of accuracy' }).waitFor();
  await here.shoot('new-quantization');
  await page.getByRole('button', { name: 'Start quantizing' }).click();
  await page.waitForURL('**/jobs/*');
  jobs.push(decodeURIComponent(new URL(page.url()).pathname.split('/')[2] ?? ''));
  await page.getByRole('link', { name: 'Download mse' }).waitFor();
  await page.getByRole('region', { name: 'Promises' }).getByText('met', { exact: true }).waitFor();
  const of = `of ${SAMPLES / 2}`;
  await page.getByRole('region', { name: 'Ways to quantize' }).getByText(of).first().waitFor();
});

test('a job is cancelled after it was asked for once more, by keyboard', async () => {
  const { page } = here;
  const id = await submit(page, 'long.onnx', 100_000);
  const button = page.getByRole('button', { name: 'Cancel', exact: true });
  const dialog = page.getByRole('alertdialog', { name: 'Cancel this job?' });
  // A dialog that is closed is hidden at once, and gone a little later.
  const gone = () => page.locator('dialog').waitFor({ state: 'detached' });
  await button.press('Enter');
  await dialog.getByText(id).waitFor();
  await here.shoot('job-cancel');
  assert.deepEqual(await here.axe(), []);
  await page.keyboard.press('Escape');
  await gone();
  await page.waitForFunction(() => document.activeElement?.textContent === 'Cancel');
  await page.keyboard.press('Enter');
  await dialog.waitFor();
  await page.keyboard.press('Enter'); // the first button has the focus, and leaves the job be
  await gone();
  await button.press('Enter');
  await dialog.waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.locator('.job-state').getByText('cancelled', { exact: true }).waitFor();
  assert.equal(await button.count(), 0);
});

test('a job has its trace, and the key that has signed what it made', async () => {
  const { page } = here;
  await here.goto(`/jobs/${jobs[0] ?? ''}`);
  const trace = page.getByRole('region', { name: 'Trace' });
  const id = await trace.locator('code').innerText();
  const started = page.waitForEvent('download');
  await trace.getByRole('link', { name: 'Download the trace' }).click();
  assert.ok(readFileSync(await (await started).path(), 'utf8').includes(`"${id}"`));
  const keys = (await (await here.context.request.get(`${ADDRESS}/v1/signing-keys`)).json()) as { keys: { pem: string }[] };
  assert.equal(await page.getByRole('region', { name: 'Signature' }).locator('.pem').first().innerText(), keys.keys[0]?.pem.trim());
});

test('the shared cost model is shown with its versions', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Records' }).click();
  const card = page.getByRole('region', { name: 'Shared cost model' });
  await card.getByText('No version yet').waitFor();
  const common = { created: '2026-11-29T02:10:11Z', records: 2310, tasks: 31, tasks_held_back: 7 };
  const versions = [
    { ...common, version: 2, ranking: 0.61, ranking_before: 0.66, state: 'rolled_back' },
    { ...common, version: 1, ranking: 0.66, ranking_before: null, state: 'current' },
  ];
  await page.route('**/v1/cost-models', (route) => route.fulfill({ json: { learns: true, cost_models: versions } }));
  await page.reload();
  await card.getByRole('row', { name: /^1 current .* 0\.66 –$/ }).waitFor();
  await card.getByRole('row', { name: /^2 rolled back .* 0\.61 0\.66$/ }).waitFor();
  assert.deepEqual(await here.axe(), []);
  await page.unroute('**/v1/cost-models');
});

test('a tenant’s quota, consent, usage and archive', async () => {
  const { page } = here;
  await page.getByRole('link', { name: 'Tenant' }).click();
  await page.getByText('Change it').click();
  await page.getByLabel('Stored, GB').fill('20');
  await page.getByRole('button', { name: 'Set the quota' }).click();
  await page.getByRole('region', { name: 'Quota' }).getByRole('cell', { name: '20.0 GB' }).waitFor();
  await page.getByLabel('Known answers').check();
  await page.locator('#consent-answers:enabled').waitFor();
  await page.reload();
  assert.ok(await page.getByLabel('Known answers').isChecked());
  // Nothing is asked that would do nothing.
  assert.equal(await page.locator('input[id^=consent-]').count(), 1);
  const trust = page.getByRole('region', { name: 'Trusted devices' });
  await trust.getByLabel('Owners').fill('other, speech');
  await trust.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The trusted owners are saved').waitFor({ state: 'attached' });
  await page.reload();
  assert.equal(await trust.getByLabel('Owners').inputValue(), 'other speech');
  for (const [name, begins] of [['Download as CSV', 'day,tenant,device_seconds,stored_bytes\r\n'], ['Download the archive', '']] as const) {
    const started = page.waitForEvent('download');
    await page.getByRole('link', { name }).click();
    const text = readFileSync(await (await started).path(), 'latin1');
    assert.ok(text.length > 0 && text.startsWith(begins), name);
  }
  await page.getByLabel('Name of a new tenant').fill('speech');
  await page.getByRole('button', { name: 'Make a tenant' }).click();
  await page.getByRole('button', { name: 'Delete speech' }).click();
  await page.getByRole('button', { name: 'Really delete speech' }).click();
  await page.getByRole('rowheader', { name: 'speech' }).waitFor({ state: 'detached' });
});

test('a device is shared by its owner', async () => {
  const { page } = here;
  await here.goto('/devices');
  await page.getByText('Share it').first().click();
  await page.getByLabel('Share with these tenants').first().fill('speech vision');
  await page.getByRole('button', { name: 'Save' }).first().click();
  await page.getByText(/, shared with speech, vision$/).waitFor();
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
});

test('a session is ended from another browser', async () => {
  const other = await Watched.open(browser);
  await other.login();
  const { page } = here;
  await page.getByRole('link', { name: 'Access' }).click();
  const sessions = page.getByRole('region', { name: 'Sessions' });
  await sessions.getByRole('button', { name: 'End' }).first().click();
  await sessions.getByRole('button', { name: 'Really end' }).click();
  await other.page.getByRole('link', { name: 'Devices' }).click();
  await other.page.getByRole('heading', { name: 'Log in' }).waitFor();
  await other.close();
});

test('a stream that breaks is told and comes again', async () => {
  const { page } = here;
  await page.route('**/v1/events', (route) => route.abort());
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByText('connecting again').waitFor();
  await page.unroute('**/v1/events');
  await page.getByText('connecting again').waitFor({ state: 'detached' });
});

test('the keyboard reaches the content past the navigation', async () => {
  const { page } = here;
  await here.goto('/devices');
  await page.locator('body').press('Tab');
  await page.getByRole('link', { name: 'Skip to the content' }).waitFor();
  await here.goto('/');
  await page.locator('.job-name a').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL('**/jobs/*');
  await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
});

const views = (): [string, string][] => [
  ['jobs', '/'],
  ['new', '/new'],
  ['job', `/jobs/${jobs[0] ?? ''}`],
  ['compare', `/compare?a=${jobs[0] ?? ''}&b=${jobs[1] ?? ''}`],
  ['quantization', `/jobs/${jobs[2] ?? ''}`],
  ['devices', '/devices'],
  ['models', '/models'],
  ['records', `/records${records}`],
  ['tenant', '/tenant'],
  ['access', '/access'],
  ['missing-job', '/jobs/nothing-7'],
  ['nothing', '/nothing'],
];

test('axe finds nothing serious in any view, light and dark, wide and narrow', async () => {
  for (const colorScheme of ['light', 'dark'] as const)
    for (const viewport of [DESKTOP, PHONE]) {
      const shown = await Watched.open(browser, { colorScheme, viewport, reducedMotion: 'reduce' });
      await shown.login(TOKEN);
      for (const [name, path] of views()) {
        const kind = `${name}-${colorScheme}-${viewport.width}`;
        await shown.goto(path);
        await shown.page.waitForFunction(() => document.querySelector('.loading') === null);
        assert.deepEqual(await shown.axe(), [], kind);
        assert.ok((await shown.overflow()) <= 0, `${kind} is wider than its window`);
        await shown.shoot(kind);
      }
      await shown.close();
    }
});

test('logging out ends the session', async () => {
  const { page } = here;
  await here.goto('/');
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal((await here.context.request.get(`${ADDRESS}/v1/jobs`)).status(), 401);
});
