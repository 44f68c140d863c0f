// The other pages that allot writes, the report of a sweep and the plot of a journal: with the explorer's look, for everybody.
import assert from 'node:assert/strict';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {violations} from './look.mjs';
import {example, launch, pageAddress, runAllot, scratch} from './support.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

function report() {
  const [sweep, out] = [join(scratch, 'sweep.toml'), join(scratch, 'report')];
  writeFileSync(join(scratch, 'workstation.toml'), example('workstation.toml'));
  writeFileSync(sweep, 'scenario = "workstation.toml"\npolicies = ["map", "jsq"]\nreplications = 2\ncompletions = 500\n' +
    '[[vary]]\nfield = "resources.gpu.servers"\nlabel = "cards"\nvalues = [1, 2]\n');
  runAllot('sweep', sweep, '--out', out);
  return join(out, 'index.html');
}

function plot() {
  const job = join(scratch, 'job.toml');
  const task = (name, repeat, command) => `[[tasks]]\nname = "${name}"\nrepeat = ${repeat}\nshell = true\nretries = 0\ncommand = "${command}"\n`;
  writeFileSync(job, `[[resources]]\nname = "cpu"\nservers = 2\n${task('good', 12, 'sleep 0.05')}${task('bad', 2, 'exit 3')}`);
  runAllot('run', job);
  runAllot('plot', `${job}.journal`);
  return `${job}.journal.html`;
}

for (const [name, write] of [['the report of a sweep', report], ['the plot of a journal', plot]]) {
  test(`${name} can be read wide and narrow, light and dark`, async () => {
    const address = pathToFileURL(write()).href;
    for (const [width, height] of [[1280, 900], [390, 844]]) {
      for (const colorScheme of ['light', 'dark']) {
        const context = await browser.newContext({viewport: {width, height}, colorScheme});
        const page = await context.newPage();
        await page.goto(address);
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => { one.open = true; }));
        const where = `${width} px, ${colorScheme}`;
        assert.deepEqual(await violations(page), [], where);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), where);
        const cut = await page.$$eval('.stacked', (boxes) => boxes.filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.getAttribute('aria-label')));
        if (width < 500) assert.deepEqual(cut, [], `columns out of sight, ${where}`);
        const small = await page.$$eval('main svg[viewBox] text', (texts) => texts.map((text) => {
          const drawing = text.ownerSVGElement;
          return parseFloat(getComputedStyle(text).fontSize) * drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width;
        }).filter((pixels) => pixels < 9));
        assert.deepEqual(small, [], `letters of drawings that are too small, ${where}`);
        await context.close();
      }
    }
  });
}

test('all pages have the same colours and type', async () => {
  const look = async (address, colorScheme) => {
    const context = await browser.newContext({colorScheme});
    const page = await context.newPage();
    await page.goto(address);
    await page.waitForSelector('.card');
    const found = await page.evaluate(() => {
      const [body, card] = [document.body, document.querySelector('.card')].map((element) => getComputedStyle(element));
      return [body.backgroundColor, body.color, body.font, card.backgroundColor, card.borderRadius];
    });
    await context.close();
    return found;
  };
  const pages = [report(), plot()].map((file) => pathToFileURL(file).href);
  for (const colorScheme of ['light', 'dark']) {
    const own = await look(pageAddress, colorScheme);
    for (const page of pages) assert.deepEqual(await look(page, colorScheme), own, colorScheme);
  }
});
