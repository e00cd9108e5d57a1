// A person logs in at an identity provider by the page's button, and out again.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADDRESS, given, launch, Watched } from './browser.ts';

test('the button begins a session by code with PKCE, and logging out ends it', async () => {
  const browser = await launch();
  const here = await Watched.open(browser, {}, given('PAGE_ISSUER'));
  const { page } = here;
  await here.goto('/');
  await here.shoot('login-oidc');
  assert.deepEqual(await here.axe(), []);
  const asked = page.waitForRequest((request) => request.url().startsWith(`${given('PAGE_ISSUER')}/auth?`));
  await page.getByRole('link', { name: 'Log in with local' }).click();
  const query = new URL((await asked).url()).searchParams;
  assert.deepEqual(['response_type', 'code_challenge_method'].map((name) => query.get(name)), ['code', 'S256']);
  assert.ok(query.get('code_challenge') !== null && query.get('state') !== null && query.get('nonce') !== null);

  await page.getByRole('heading', { name: 'Jobs' }).waitFor();
  assert.equal(new URL(page.url()).search, '', 'neither code nor state stays in the address');
  await page.getByText('operator · lab').waitFor();
  const cookies = await here.context.cookies(ADDRESS);
  assert.ok(cookies.every((cookie) => cookie.httpOnly && cookie.sameSite !== 'None'));
  await page.getByRole('link', { name: 'Access' }).click();
  await page.getByRole('region', { name: 'People' }).getByRole('rowheader', { name: 'Ann' }).waitFor();
  await page.getByRole('region', { name: 'Sessions' }).getByRole('cell', { name: 'a login' }).waitFor();
  await here.shoot('access-oidc');

  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  assert.equal((await here.context.request.get(`${ADDRESS}/v1/jobs`)).status(), 401);
  await here.close();
  await browser.close();
});
