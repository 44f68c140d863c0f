// A browser with the page open, as a person would have it; and the command, to compare numbers with.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {chromium} from 'playwright-core';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const pageFile = process.env.ALLOT_EXPLORER ?? join(root, 'build/explorer/index.html');
export const pageAddress = pathToFileURL(pageFile).href;
const command = process.env.ALLOT ?? join(root, 'build/allot');

export const scratch = mkdtempSync(join(tmpdir(), 'allot-explorer-'));
process.on('exit', () => rmSync(scratch, {recursive: true, force: true}));

/** What `allot ... --json` prints for a scenario given as text. */
export function allot(subcommand, scenario, ...options) {
  const output = execFileSync(command, [subcommand, '-', ...options, '--json'], {
    input: scenario, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 1 << 28,
  });
  return JSON.parse(output);
}

export function allotGenerate(...options) {
  return execFileSync(command, ['generate', ...options, '--json'], {encoding: 'utf8'});
}

/** The problems that the command finds in a scenario file, one line each, as it says them. */
export function allotProblems(text) {
  const file = join(scratch, 'problems.json');
  writeFileSync(file, text);
  try {
    execFileSync(command, ['solve', file], {encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']});
  } catch (error) {
    return error.stderr.split('\n').filter((line) => line.startsWith('error: ')).map((line) => line.slice(`error: ${file}: `.length));
  }
  return [];
}

export const example = (name) => readFileSync(join(root, 'examples', name), 'utf8');

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--disable-component-update',
      '--disable-sync', '--no-first-run'],
  });
}

/** A tab that keeps a list of everything that should not have happened. */
export async function newTab(browser, options = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, acceptDownloads: true, ...options});
  // Random presets are drawn by chance; here by the same chance each time.
  await context.addInitScript(() => {
    let state = 12345;
    Math.random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => complaints.push(`error: ${error.stack ?? error}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!/^(blob|data):/.test(url) && !url.startsWith(pageAddress)) complaints.push(`request: ${url}`);
  });
  return {page, context, complaints};
}

export async function open(tab, hash = '') {
  await tab.page.goto(pageAddress + hash);
  await tab.page.waitForSelector('#throughput, .loading[role=alert]');
}

export const hashOf = (scenario, view = 'throughput') => `#view=${view}&scenario=${Buffer.from(scenario).toString('base64url')}`;

/** Whatever was going on in the workers is done. */
export async function settled(page) {
  await page.waitForSelector('#verdict[data-done=true]', {timeout: 60_000});
}

/** Waits by the clock of the page: timers that it set before are through, however slow the machine. */
export const pause = (page, milliseconds) =>
  page.evaluate((time) => new Promise((resolve) => { setTimeout(resolve, time); }), milliseconds);

export const valueOf = async (page, selector, name = 'data-value') => Number(await page.getAttribute(selector, name));

export function assertClose(actual, expected, relative, what) {
  assert.ok(
    Math.abs(actual - expected) <= relative * Math.max(1, Math.abs(expected)),
    `${what}: the page has ${actual}, the command ${expected}`,
  );
}
