// The page and the command give the same numbers: it is the same library, compiled twice.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {allot, allotGenerate, assertClose, hashOf, launch, newTab, open, root, scenarioInAddress, settled, simulated, valueOf} from './support.mjs';

const kSolvers = 1e-12;
// What counts as proven: weighted service and bounds come from linear programs, which the page solves by another method.
const kProven = 1e-9;
const kSimulations = 1e-6;

const solved = (name) => JSON.stringify(JSON.parse(readFileSync(join(root, 'tests/cases', `${name}.json`), 'utf8')).scenario);

/** Twenty scenarios: of the paper's shapes, mixed ones with several servers and both disciplines, larger ones. */
const scenarios = [
  ...[0, 1, 2, 3, 4].map((n) => [`paper-2gp1sa-0${n}`, solved(`paper-2gp1sa-0${n}`)]),
  ...[0, 1, 2].map((n) => [`paper-2gp2sa-0${n}`, solved(`paper-2gp2sa-0${n}`)]),
  ...[0, 1, 2, 3, 4, 5, 6].map((n) => [`mixed-3x3-0${n}`, solved(`mixed-3x3-0${n}`)]),
  ...[0, 1].map((n) => [`mixed-4x3-0${n}`, solved(`mixed-4x3-0${n}`)]),
  ...[1, 2, 3].map((seed) => [
    `eight-${seed}`,
    allotGenerate('--gps', '6', '--sas', '2', '--threads', '48', '--rates', '1,10', '--priorities', '--seed', String(seed)),
  ]),
].map(([name, text]) => [name, JSON.stringify({...JSON.parse(text), name})]);

let browser;
let tab;
before(async () => {
  browser = await launch();
  tab = await newTab(browser);
  // The command has no limit: neither has the page here.
  await tab.context.addInitScript(() => { globalThis.allotStudySeconds = 1000; });
  await open(tab);
});
after(async () => {
  await browser.close();
});

/** Lets the page read the scenario from its address, as from a link. */
async function show(name, scenario, view) {
  await tab.page.evaluate((hash) => { location.hash = hash; }, hashOf(scenario, view));
  await tab.page.waitForFunction(
    ([wanted, chosen]) =>
      document.querySelector('.title .name').value === wanted && document.querySelector(`input[name=view][value=${chosen}]`).checked,
    [name, view],
  );
  assert.equal((await scenarioInAddress(tab.page)).name, name);
}

test('there are twenty scenarios', () => assert.equal(scenarios.length, 20));

for (const [name, scenario] of scenarios) {
  test(`solve, certify, pareto: ${name}`, async () => {
    const {page} = tab;
    for (const [view, ...options] of [
      ['throughput'],
      ['priority', '--objective', 'priority'],
      ['weighted', '--objective', 'priority', '--solver', 'weighted'],
    ]) {
      await show(name, scenario, view);
      const expected = allot('solve', scenario, ...options);
      const close = view === 'weighted' ? kProven : kSolvers;
      assertClose(await valueOf(page, '#throughput'), expected.throughput, close, `throughput, ${view}`);
      if (view === 'throughput') continue;
      assertClose(await valueOf(page, '#priority-error'), expected.priority_error, kSolvers, `priority error, ${view}`);
    }
    await show(name, scenario, 'throughput');
    await settled(page);
    const proof = allot('certify', scenario);
    const bound = await page.getAttribute('#verdict', 'data-bound');
    if (proof.upper_bound === null) assert.equal(bound, '');
    else if (proof.proven_optimal) assertClose(Number(bound), proof.upper_bound, kProven, 'bound');
    else assert.ok(Number(bound) >= proof.throughput * (1 - kSolvers), 'a bound is no lower than an assignment');
    const bestFit = allot('solve', scenario, '--solver', 'best-fit');
    assertClose(await valueOf(page, '#beside tr[data-key=best-fit]'), bestFit.throughput, kSolvers, 'Best Fit');

    await page.waitForFunction(() => document.querySelector('#bargain')?.dataset.points);
    const points = JSON.parse(await page.getAttribute('#bargain', 'data-points'));
    const expected = allot('pareto', scenario, '--points', '40').points;
    assert.equal(points.length, expected.length, 'points of the trade-off');
    expected.forEach((point, at) => {
      assertClose(points[at][0], point.throughput, kSolvers, `throughput of point ${at}`);
      assertClose(points[at][1], point.priority_error, kSolvers, `error of point ${at}`);
    });

    await page.waitForSelector('#beside tr[data-key=jsq]:not([data-value=""])');
    const jsq = allot('simulate', scenario, '--policy', 'jsq', '--completions', '1000', '--warmup', String(10 * bestFit.population));
    assertClose(await valueOf(page, '#beside tr[data-key=jsq]'), jsq.throughput.mean, kSimulations, 'JSQ');
  });

  test(`simulate: ${name}`, async () => {
    const {page} = tab;
    await show(name, scenario, 'throughput');
    const spec = [['exponential', ''], ['bounded-pareto', ''], ['lognormal', '2'], ['uniform', '']][scenarios.findIndex(([other]) => other === name) % 4];
    await page.selectOption('#distribution', spec[0]);
    if (spec[1] !== '') await page.fill('#parameter-cv', spec[1]);
    await page.fill('#replications', '1');
    await page.fill('#seed', '7');
    await page.click('#run');
    await simulated(page);
    const sizes = spec[1] === '' ? spec[0] : `${spec[0]}:cv=${spec[1]}`;
    for (const policy of ['map', 'jsq', 'random', 'best-fit']) {
      const expected = allot('simulate', scenario, '--policy', policy, '--distribution', sizes, '--replications', '1', '--seed', '7');
      assert.equal(expected.completions, 100_000);
      const row = `#outcome:not(.stale) tr[data-policy=${policy}]`;
      assertClose(await valueOf(page, row, 'data-throughput'), expected.throughput.mean, kSimulations, `throughput of ${policy}`);
      assertClose(await valueOf(page, row, 'data-response'), expected.response_time.mean, kSimulations, `response time of ${policy}`);
    }
  });
}

test('nothing was complained about', () => assert.deepEqual(tab.complaints, []));
