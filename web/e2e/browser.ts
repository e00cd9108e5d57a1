// Debian's Chromium, and what holds for every page that it shows: nothing leaves the server, the content
// security policy is never violated, nothing fails unseen, and axe finds nothing serious.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'];

export function given(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; tests/page/page_test.py sets it`);
  return value;
}
export const ADDRESS = given('PAGE_ADDRESS');
export const TOKEN = given('PAGE_TOKEN');
export const MODEL = given('PAGE_MODEL');
export const SCREENSHOTS = given('PAGE_SCREENSHOTS');
mkdirSync(SCREENSHOTS, { recursive: true });

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 360, height: 740 };

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS, timeout: 0 });
}

// Drops a file on the first zone of the page.
export async function dropFile(page: Page, name: string, content: Buffer = readFileSync(MODEL)): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([file, text]) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const data = new DataTransfer();
      data.items.add(new File([bytes], file));
      return data;
    },
    [name, content.toString('base64')] as const,
  );
  await page.locator('.drop').first().dispatchEvent('drop', { dataTransfer: transfer });
}

export class Watched {
  readonly faults: string[] = [];
  readonly page: Page;
  readonly context: BrowserContext;

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
  }

  // `elsewhere`: an origin beside the server's that may be asked, too.
  static async open(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}, elsewhere = ADDRESS): Promise<Watched> {
    const context = await browser.newContext({ viewport: DESKTOP, acceptDownloads: true, ...options });
    // A step takes as long as the machine needs; a test that hangs is ended from outside.
    context.setDefaultTimeout(0);
    const page = await context.newPage();
    const watched = new Watched(context, page);
    const fault = (text: string): void => void watched.faults.push(text);
    page.on('request', (request) => {
      if (![ADDRESS, elsewhere].includes(new URL(request.url()).origin)) fault(`a request leaves the server: ${request.url()}`);
    });
    page.on('dialog', (dialog) => {
      fault(`a dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('pageerror', (error) => fault(`an error: ${error.message}`));
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy') || message.text().includes('Trusted')) fault(`a violation: ${message.text()}`);
    });
    await context.exposeFunction('tellViolation', fault);
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        (window as unknown as { tellViolation: (text: string) => void }).tellViolation(`${event.violatedDirective} is violated by ${event.blockedURI}`);
      });
    });
    return watched;
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${ADDRESS}${path}`);
    await this.page.locator('h1').waitFor();
  }

  async login(token = TOKEN): Promise<void> {
    await this.goto('/');
    await this.page.getByLabel('Token', { exact: true }).fill(token);
    await this.page.keyboard.press('Enter');
    await this.page.getByRole('heading', { name: 'Jobs' }).waitFor();
  }

  // axe's findings that are serious or critical, a line each.
  async axe(): Promise<string[]> {
    await this.page.evaluate(AXE);
    return this.page.evaluate(async () => {
      interface Finding {
        id: string;
        impact: string;
        nodes: { html: string; failureSummary: string }[];
      }
      const axe = (window as unknown as { axe: { run: () => Promise<{ violations: Finding[] }> } }).axe;
      const { violations } = await axe.run();
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)}: ${node.failureSummary}`));
    });
  }

  async shoot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: (this.page.viewportSize()?.width ?? 0) > PHONE.width });
  }

  // How many pixels the page is wider than its window.
  overflow(): Promise<number> {
    return this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  }

  async close(): Promise<void> {
    await this.context.close();
    assert.deepEqual(this.faults, []);
  }
}
