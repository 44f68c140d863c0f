// The page in Firefox: it opens, answers, proves in a worker and simulates. Spoken with over Firefox's own Marionette
// protocol, because the browser is Debian's and not one made for a test tool.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {connect} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {allot, assertClose, pageAddress} from './support.mjs';

const program = process.env.FIREFOX ?? 'firefox-esr';
const missing = spawnSync(program, ['--version']).status === 0 ? false : `there is no ${program} here`;
const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Messages are JSON, each after its length and a colon. */
class Marionette {
  constructor(socket) {
    this.socket = socket;
    this.buffer = Buffer.alloc(0);
    this.waiting = new Map();
    this.number = 0;
    this.greeted = new Promise((resolve) => (this.onGreeting = resolve));
    this.closed = new Promise((_, reject) => socket.on('close', () => reject(new Error('Firefox has closed the connection'))));
    this.closed.catch(() => {}); // whoever waits is told
    socket.on('data', (data) => this.receive(data));
  }

  receive(data) {
    this.buffer = Buffer.concat([this.buffer, data]);
    for (;;) {
      const colon = this.buffer.indexOf(':');
      if (colon < 0) return;
      const length = Number(this.buffer.subarray(0, colon));
      if (this.buffer.length < colon + 1 + length) return;
      const message = JSON.parse(this.buffer.subarray(colon + 1, colon + 1 + length).toString('utf8'));
      this.buffer = this.buffer.subarray(colon + 1 + length);
      if (!Array.isArray(message)) this.onGreeting(message);
      else this.waiting.get(message[1])?.(message);
    }
  }

  async call(name, parameters = {}) {
    const id = ++this.number;
    const text = JSON.stringify([0, id, name, parameters]);
    const answered = new Promise((resolve) => this.waiting.set(id, resolve));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await Promise.race([answered, this.closed]);
    this.waiting.delete(id);
    if (error) throw new Error(`${name}: ${error.message}`);
    return result;
  }

  async run(script, ...args) {
    return (await this.call('WebDriver:ExecuteScript', {script, args})).value;
  }

  async until(condition) {
    for (let look = 0; look < 1800; ++look) {
      if (await this.run(`return Boolean(${condition})`)) return;
      await sleep(100);
    }
    throw new Error(`waited in vain for: ${condition}`);
  }
}

/** Firefox writes it down when it listens. */
async function portOf(profile) {
  for (let look = 0; look < 1200; ++look) {
    await sleep(100);
    try {
      const port = Number(readFileSync(join(profile, 'MarionetteActivePort'), 'utf8'));
      if (port > 0) return port;
    } catch {
      // not yet
    }
  }
  throw new Error('Firefox does not listen');
}

test('Firefox opens the page, answers, proves and simulates', {skip: missing, timeout: 600_000}, async () => {
  const profile = mkdtempSync(join(tmpdir(), 'allot-firefox-'));
  writeFileSync(
    join(profile, 'user.js'),
    [
      'user_pref("marionette.port", 0);', // any that is free
      'user_pref("app.update.enabled", false);', 'user_pref("datareporting.policy.dataSubmissionEnabled", false);',
      'user_pref("network.captive-portal-service.enabled", false);', 'user_pref("network.connectivity-service.enabled", false);',
      'user_pref("browser.safebrowsing.malware.enabled", false);', 'user_pref("browser.safebrowsing.phishing.enabled", false);',
      'user_pref("toolkit.telemetry.enabled", false);', 'user_pref("extensions.update.enabled", false);',
      'user_pref("services.settings.server", "data:,#remote-settings-dummy/v1");', 'user_pref("browser.shell.checkDefaultBrowser", false);',
    ].join('\n'),
  );
  const firefox = spawn(program, ['--headless', '--marionette', '--no-remote', '--profile', profile, 'about:blank'], {
    stdio: 'ignore', env: {...process.env, HOME: profile, MOZ_CRASHREPORTER_DISABLE: '1'},
  });
  const ended = new Promise((resolve) => firefox.on('exit', resolve));
  try {
    const port = await portOf(profile);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {}); // it closes then, which is told
    const marionette = new Marionette(socket);
    await Promise.race([marionette.greeted, marionette.closed]);
    await marionette.call('WebDriver:NewSession');
    await marionette.call('WebDriver:Navigate', {url: pageAddress});
    await marionette.until("document.querySelector('#throughput')");
    await marionette.until("document.querySelector('#verdict').dataset.done === 'true'");
    assert.match(await marionette.run("return document.querySelector('#verdict').textContent"), /Proven optimal/);
    await marionette.until("document.querySelector('main[data-address=written]')");
    const scenario = await marionette.run(`
      return new TextDecoder().decode(Uint8Array.from(atob(new URLSearchParams(location.hash.slice(1)).get('scenario')
        .replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)))`);
    const shown = Number(await marionette.run("return document.querySelector('#throughput').dataset.value"));
    assertClose(shown, allot('solve', scenario).throughput, 1e-12, 'throughput');
    await marionette.run("document.querySelector('#run').click()");
    await marionette.until("document.querySelector('#simulated')");
    const simulated = Number(await marionette.run("return document.querySelector('tr[data-policy=jsq]').dataset.throughput"));
    assertClose(simulated, allot('simulate', scenario, '--policy', 'jsq').throughput.mean, 1e-6, 'JSQ');
    socket.destroy();
  } finally {
    firefox.kill('SIGKILL');
    await ended;
    rmSync(profile, {recursive: true, force: true, maxRetries: 5, retryDelay: 200});
  }
});
