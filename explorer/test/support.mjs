// A browser with the page open, as a person would have it; and the command, to compare numbers with.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
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

/** Runs the command for the files that it writes, whatever it thinks of how it went. */
export function runAllot(...options) {
  const {error} = spawnSync(command, options, {cwd: scratch, stdio: 'ignore'});
  if (error !== undefined) throw error;
}

/** Like `allot`, where the command may say that nothing is feasible. */
export function allotOrInfeasible(subcommand, scenario, ...options) {
  try {
    return allot(subcommand, scenario, ...options);
  } catch (error) {
    return JSON.parse(error.stdout);
  }
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

/** How long to wait for something to happen, on a machine that may be slow and busy. */
const kPatience = 120_000; // milliseconds

/** ALLOT_THROTTLE=6 makes the page six times slower, to find out what the tests take for granted. */
async function throttle(page) {
  if (process.env.ALLOT_THROTTLE === undefined) return;
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', {rate: Number(process.env.ALLOT_THROTTLE)});
}

/** A tab that keeps a list of everything that should not have happened. */
export async function newTab(browser, {withTour = false, ...options} = {}) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, acceptDownloads: true, ...options});
  // Random presets are drawn by chance; here by the same chance each time.
  await context.addInitScript(() => {
    let state = 12345;
    Math.random = () => (state = (state * 16807) % 2147483647) / 2147483647;
  });
  // The tour is for those who come for the first time.
  if (!withTour) await context.addInitScript(() => { if (location.protocol === 'file:') localStorage.setItem('allot-tour', 'seen'); });
  const page = await context.newPage();
  page.setDefaultTimeout(kPatience);
  await throttle(page);
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

/** The proof is done. */
export async function settled(page) {
  await page.waitForSelector('#verdict[data-done=true]');
}

/** The simulation that was started is done. */
export async function simulated(page) {
  await page.waitForSelector('#run:not([aria-disabled=true])');
  await page.waitForSelector('#outcome:not(.stale) #simulated');
}

/** The address of the page, once it holds the scenario that is shown. */
export async function addressOf(page) {
  await page.waitForSelector('main[data-address=written]');
  return page.evaluate(() => location.href);
}

export async function scenarioInAddress(page) {
  const {hash} = new URL(await addressOf(page));
  return JSON.parse(Buffer.from(new URLSearchParams(hash.slice(1)).get('scenario'), 'base64url').toString('utf8'));
}

export const valueOf = async (page, selector, name = 'data-value') => Number(await page.getAttribute(selector, name));

export function assertClose(actual, expected, relative, what) {
  assert.ok(
    Math.abs(actual - expected) <= relative * Math.max(1, Math.abs(expected)),
    `${what}: the page has ${actual}, the command ${expected}`,
  );
}
