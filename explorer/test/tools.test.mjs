// What people bring, take away, keep and compare; and what the keyboard does.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {after, afterEach, before, beforeEach, describe, test} from 'node:test';
import {violations} from './look.mjs';
import {addressOf, allot, allotGenerate, assertClose, hashOf, launch, newTab, open, scenarioInAddress, settled, simulated, valueOf} from './support.mjs';

let browser;
let tab;
let page;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});
beforeEach(async () => {
  tab = await newTab(browser);
  page = tab.page;
});
afterEach(async () => {
  await tab.context.close();
  assert.deepEqual(tab.complaints, [], 'no errors on the console, no requests');
});

const rate = (i, j) => `[id="tasks.${i}.rates.${j}"]`;
const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.getAttribute('aria-label') || document.activeElement.textContent);
const paste = (selector, text) => page.evaluate(([where, content]) => {
  const data = new DataTransfer();
  data.setData('text/plain', content);
  document.querySelector(where).dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
}, [selector, text]);
const openFile = (name, text) => page.setInputFiles('#file', {name, mimeType: 'text/csv', buffer: Buffer.from(text)});
/** Opens the menu to save something and chooses the way. */
const saved = async (what, way) => {
  await page.click(`summary:has-text("Save ${what}")`);
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(`[aria-label^="Save ${what}"][aria-label$="as ${way}"]`)]);
  await page.click(`summary:has-text("Save ${what}")`);
  return {name: file.suggestedFilename(), content: readFileSync(await file.path())};
};

describe('tables from elsewhere', () => {
  test('a block of cells is pasted where the caret is, and the grid grows', async () => {
    await open(tab);
    await paste(rate(1, 0), '1,5\t2\n3\t4\n5\t\n');
    const {tasks, resources} = await scenarioInAddress(page);
    assert.equal(tasks.length, 4);
    assert.equal(resources.length, 3);
    assert.equal(tasks[1].rates.gp1, 1.5);
    assert.equal(tasks[2].rates.gp2, 4);
    assert.deepEqual([tasks[3].rates.gp1, tasks[3].rates.gp2], [5, undefined]);
    await page.click('text=Undo');
    assert.equal((await scenarioInAddress(page)).tasks.length, 3, 'one step takes it back');
  });

  test('a table with names is a scenario, pasted or opened', async () => {
    await open(tab);
    await paste(rate(0, 0), 'type\tthreads\tcpu\tgpu\nresize\t4\t10\t80\n"a ""b"""\t2\t3\t\n');
    const {tasks, resources} = await scenarioInAddress(page);
    assert.deepEqual(resources.map(({name}) => name), ['cpu', 'gpu']);
    assert.deepEqual(tasks.map(({name, count, rates}) => [name, count, rates]), [['resize', 4, {cpu: 10, gpu: 80}], ['a "b"', 2, {cpu: 3}]]);
    await openFile('box.csv', '\ufefftask;worth;share;cpu;npu\r\none;2;3;1,5;\r\ntwo;1;1;2;9\r\n');
    await page.waitForSelector('[id="tasks.1.rates.1"][aria-label*="npu"]');
    const opened = await scenarioInAddress(page);
    assert.equal(opened.name, 'box');
    assert.deepEqual(opened.tasks[0], {name: 'one', count: 1, priority: 3, worth: 2, rates: {cpu: 1.5}});
    assertClose(await valueOf(page, '#value'), allot('solve', JSON.stringify(opened), '--solver', 'map').value, 1e-9, 'value');
  });

  test('a table that makes no scenario is refused, and nothing changes', async () => {
    await open(tab);
    const before = await scenarioInAddress(page);
    for (const [text, said] of [['lonely', /first row must name/], ['task,cpu\na,1\na,2', /used twice/], ['task,cpu\na,fast', /fast/]]) {
      await openFile('odd.csv', text);
      await page.waitForSelector('[role=alert]');
      assert.match(await page.textContent('[role=alert]'), said);
      await page.click('text=Close this message');
    }
    assert.deepEqual(await scenarioInAddress(page), before);
  });

  test('seconds per task, instead of rates', async () => {
    await open(tab);
    await page.selectOption('#rates-in', 'seconds');
    await page.fill(rate(0, 0), '0.7');
    assertClose((await scenarioInAddress(page)).tasks[0].rates.gp1, 1 / 0.7, 1e-15, 'rate');
    assert.equal(await page.inputValue(rate(0, 0)), '0.7');
    await page.fill(rate(0, 0), '50 ms');
    assertClose((await scenarioInAddress(page)).tasks[0].rates.gp1, 20, 1e-15, 'rate');
    await page.keyboard.press('Alt+ArrowUp');
    assert.equal(await page.inputValue(rate(0, 0)), '0.051');
    await page.fill(rate(0, 0), '0');
    assert.match(await page.textContent('[id="mark-tasks.0.rates.0"]'), /0 seconds/);
    await page.fill(rate(0, 0), '4');
    await paste(rate(0, 0), '2\t8\n');
    assert.equal((await scenarioInAddress(page)).tasks[0].rates.gp2, 0.125);
    await addressOf(page);
    await page.reload();
    await page.waitForSelector('#throughput');
    assert.equal(await page.inputValue(rate(0, 1)), '8');
  });
});

describe('what is taken away', () => {
  test('results as CSV and JSON: those of the command', async () => {
    await open(tab);
    const expected = allot('solve', JSON.stringify(await scenarioInAddress(page)), '--solver', 'map');
    const json = await saved('the results', 'JSON');
    assert.match(json.name, /^paper-2-gp-1-sa-assignment\.json$/);
    assert.deepEqual(JSON.parse(json.content).assignment, expected.assignment);
    const lines = (await saved('the results', 'CSV')).content.toString().trim().split('\r\n');
    assert.equal(lines.length, 1 + 9);
    assert.equal(lines[1].split(',')[2], String(expected.assignment[0][0]));
    const sum = lines.slice(1).reduce((total, line) => total + Number(line.split(',')[4]), 0);
    assertClose(sum, expected.throughput, 1e-9, 'throughput of all cells');
  });

  test('a name that a spreadsheet would take for a formula is only text', async () => {
    await open(tab, hashOf(JSON.stringify({resources: [{name: '=1+1'}], tasks: [{name: 'a,"b"', count: 2, rates: {'=1+1': 1}}]})));
    assert.match((await saved('the results', 'CSV')).content.toString(), /"a,""b""",'=1\+1,2/);
  });

  test('a simulation as CSV and JSON', async () => {
    await open(tab);
    await page.fill('#completions', '2000');
    await page.click('#run');
    await simulated(page);
    const lines = (await saved('the simulation', 'CSV')).content.toString().trim().split('\r\n');
    assert.deepEqual(lines.slice(1).map((line) => line.split(',')[0]).sort(), ['best-fit', 'jsq', 'map', 'random']);
    assert.equal(JSON.parse((await saved('the simulation', 'JSON')).content).policies.length, 4);
  });

  test('charts as SVG and PNG, with the colours they have', async () => {
    await open(tab);
    await page.selectOption('#theme', 'dark');
    await settled(page);
    const svg = await saved('the chart “Throughput by resource”', 'SVG');
    assert.equal(svg.name, 'throughput-by-resource.svg');
    const text = svg.content.toString();
    assert.match(text, /^<svg[^>]+xmlns=/);
    assert.doesNotMatch(text, /var\(--|style=|class=/);
    assert.match(text, /gp1/);
    const png = (await saved('the chart “Throughput by resource”', 'PNG')).content;
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    assert.ok(png.length > 2000);
    // What stands in it can be drawn: the picture has the paper's colour and others.
    const colours = await page.evaluate(async (data) => {
      const picture = new Image();
      picture.src = `data:image/png;base64,${data}`;
      await picture.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [picture.width, picture.height];
      const pen = canvas.getContext('2d');
      pen.drawImage(picture, 0, 0);
      const pixels = pen.getImageData(0, 0, canvas.width, canvas.height).data;
      return new Set(Array.from({length: pixels.length / 4}, (_, k) => pixels.slice(4 * k, 4 * k + 3).join(' '))).size;
    }, png.toString('base64'));
    assert.ok(colours > 10, `${colours} colours`);
  });
});

describe('the link and a reload', () => {
  test('keep the point of the trade-off', async () => {
    await open(tab);
    await page.selectOption('#preset', 'priorities');
    await page.waitForSelector('#frontier');
    await page.focus('#frontier');
    await page.keyboard.press('End');
    await page.waitForSelector('#unchoose');
    const chosen = await valueOf(page, '#throughput');
    await addressOf(page);
    await page.reload();
    await page.waitForSelector('#unchoose');
    assert.equal(await valueOf(page, '#throughput'), chosen);
    await page.click('#unchoose');
    await addressOf(page);
    assert.doesNotMatch(page.url(), /point=/);
  });

  test('a point that is none of this scenario is left out', async () => {
    await open(tab, hashOf(allotGenerate('--priorities', '--seed', '3'), 'priority').replace('&', '&point=9.9_1&'));
    await settled(page);
    assert.ok((await valueOf(page, '#throughput')) > 0);
  });

  test('keep what is simulated', async () => {
    await open(tab);
    await page.uncheck('input[value=random]');
    await page.check('input[value=round-robin]');
    await page.selectOption('#distribution', 'bounded-pareto');
    await page.fill('#parameter-alpha', '2.5');
    await page.fill('#completions', '3000');
    await page.fill('#seed', '42');
    await addressOf(page);
    await page.reload();
    await page.waitForSelector('#throughput');
    assert.ok(await page.isChecked('input[value=round-robin]'));
    assert.ok(!(await page.isChecked('input[value=random]')));
    assert.deepEqual(await Promise.all(['#distribution', '#parameter-alpha', '#parameter-ratio', '#completions', '#seed'].map((id) => page.inputValue(id))), ['bounded-pareto', '2.5', '', '3000', '42']);
    await page.click('#run');
    await simulated(page);
    assert.match(await page.textContent('#outcome'), /bounded-pareto:alpha=2\.5,ratio=1000 sizes, seed 42/);
  });
});

describe('two machines', () => {
  test('side by side for the same aim, swapped, and kept by the link', async () => {
    await open(tab);
    const kept = await valueOf(page, '#throughput');
    await page.click('#keep-machine');
    await page.click('[aria-label="Servers of gp1: one more"]');
    const edited = await valueOf(page, '#throughput');
    assert.ok(edited > kept);
    const row = '#two-machines tr[data-what="tasks per second"]';
    assert.equal(await valueOf(page, row, 'data-kept'), kept);
    assert.equal(await valueOf(page, row, 'data-edited'), edited);
    assert.match(await page.textContent('#machines'), /more than the one that was kept/);
    await page.check('input[name=service][value=planned]');
    await page.waitForFunction(([selector, old]) => Number(document.querySelector(selector).dataset.kept) > old, [row, kept]);
    await page.check('input[name=service][value=even]');
    await addressOf(page);
    await page.reload();
    await page.waitForSelector(row);
    assert.equal(await valueOf(page, row, 'data-kept'), kept);
    await page.click('#swap');
    await page.waitForFunction((value) => Number(document.querySelector('#throughput').dataset.value) === value, kept);
    assert.equal(await valueOf(page, row, 'data-kept'), edited);
    assert.deepEqual(await violations(page), []);
    await page.click('#end-comparison');
    assert.equal(await page.locator('#machines').count(), 0);
  });
});

describe('the tour', () => {
  test('opens once, by itself, and again at a press', async () => {
    const first = await newTab(browser, {withTour: true});
    await open(first);
    await first.page.waitForSelector('.tour');
    assert.deepEqual(await violations(first.page), []);
    for (let step = 0; step < 5; ++step) {
      assert.match(await first.page.textContent('.tour'), new RegExp(`^${step + 1} of 5`));
      assert.equal(await first.page.locator('.toured').count(), 1);
      await first.page.click('#tour-next');
    }
    assert.equal(await first.page.locator('.tour, .toured').count(), 0);
    assert.equal(await first.page.evaluate(() => document.activeElement.id), 'tour');
    await first.page.goto('about:blank');
    await open(first);
    assert.equal(await first.page.locator('.tour').count(), 0, 'it has been seen');
    await first.page.click('#tour');
    await first.page.keyboard.press('Tab');
    await first.page.focus('#tour-next');
    await first.page.keyboard.press('Escape');
    assert.equal(await first.page.locator('.tour').count(), 0);
    assert.deepEqual(first.complaints, []);
    await first.context.close();
  });

  test('is not for those who follow a link', async () => {
    const first = await newTab(browser, {withTour: true});
    await open(first, hashOf(allotGenerate('--seed', '3')));
    assert.equal(await first.page.locator('.tour').count(), 0);
    await first.context.close();
  });
});

describe('the keyboard', () => {
  test('moves in the grid by arrow keys, as in a spreadsheet', async () => {
    await open(tab);
    await page.focus(rate(0, 0));
    for (const [key, place] of [
      ['ArrowDown', 'tasks.1.rates.0'], ['ArrowRight', 'tasks.1.rates.1'], ['ArrowUp', 'tasks.0.rates.1'], ['Enter', 'tasks.1.rates.1'],
      ['ArrowLeft', 'tasks.1.rates.0'], ['ArrowLeft', 'tasks.1.name'], ['ArrowUp', 'tasks.0.name'], ['ArrowRight', 'tasks.0.rates.0'], ['ArrowUp', 'resources.0.name'],
      ['ArrowRight', 'resources.1.name'], ['ArrowDown', 'tasks.0.rates.1'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await focused(), place, key);
    }
    // Within a number that is being typed, they move the caret.
    await page.keyboard.type('123');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), 'tasks.0.rates.1');
    await page.focus('.assignment .cell >> nth=0');
    await page.keyboard.press('ArrowDown');
    assert.match(await focused(), /^t2 on gp1/);
  });

  test('has few stops, however many types there are', async () => {
    const large = JSON.parse(allotGenerate('--gps', '8', '--sas', '0', '--threads', '40', '--seed', '5'));
    const tasks = Array.from({length: 20}, (_, i) => ({...large.tasks[i % large.tasks.length], name: `type ${i + 1}`}));
    await open(tab, hashOf(JSON.stringify({...large, tasks})));
    const stops = await page.evaluate(() => [...document.querySelectorAll('.editor :is(input, select, button)')].filter((e) => e.tabIndex >= 0).length);
    assert.ok(stops <= 10, `${stops} stops in the grid`);
    assert.equal(await page.evaluate(() => [...document.querySelectorAll('.assignment button')].filter((e) => e.tabIndex >= 0).length), 1);
    // The answer stays in sight at the last type, and none of the grid lies below it.
    await page.focus(rate(19, 7));
    await page.evaluate(() => document.activeElement.scrollIntoView({block: 'center'}));
    const bar = await page.locator('#answer').boundingBox();
    assert.equal(bar.y, 0);
    assert.match(await page.textContent('#answer'), /tasks\/s/);
  });

  test('keeps its place after Run, Undo and Redo', async () => {
    await open(tab);
    await page.fill('#completions', '2000');
    await page.focus('#run');
    await page.keyboard.press('Enter');
    await simulated(page);
    assert.equal(await focused(), 'run');
    await page.fill(rate(0, 0), '9');
    await page.focus('button:has-text("Undo")');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Undo');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Undo', 'nothing is left to undo');
    await page.focus('button:has-text("Redo")');
    await page.keyboard.press('Enter');
    assert.equal(await focused(), 'Redo');
    await page.focus(rate(1, 1));
    await page.keyboard.press('Alt+ArrowUp');
    await page.keyboard.press('Control+z');
    assert.equal(await focused(), 'tasks.1.rates.1');
  });

  test('is not lost where the last row is removed', async () => {
    await open(tab);
    await page.focus('[aria-label="Remove task type t3"]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[aria-label="Remove task type t3"]', {state: 'detached'});
    assert.match(await focused(), /tasks\.1\./);
  });
});
