// The documentation site, where it has been built: can it be read in a narrow window, and in the dark?
import assert from 'node:assert/strict';
import {existsSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {launch, root} from './support.mjs';

const built = ['build/release/tests/site', 'build/site'].map((folder) => join(root, folder)).find((folder) => existsSync(join(folder, 'api/cpp/index.html')));
const skip = built === undefined && 'the site has not been built';

let browser;
before(async () => {
  browser = await launch();
});
after(async () => {
  await browser.close();
});

async function withPage(path, {width, colorScheme = 'light'}, look) {
  const context = await browser.newContext({viewport: {width, height: 844}, colorScheme});
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(built, path)).href);
  await look(page);
  await context.close();
}

test('no page of the site is wider than its window', {skip}, async () => {
  for (const path of ['index.html', 'docs/tutorial.html', 'docs/benchmarks.html', 'docs/reference/command.html', 'docs/background/claims.html',
    'docs/decisions/index.html', 'api/python.html', 'api/cpp/index.html', 'api/cpp/classallot_1_1System.html']) {
    for (const width of [1280, 390]) {
      await withPage(path, {width}, async (page) => {
        const [inside, window] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
        assert.ok(inside <= window, `${path} is ${inside} px wide in a window of ${window}`);
      });
    }
  }
});

test('the C++ pages have all of a narrow window, and are dark where the others are', {skip}, async () => {
  const look = (page) => page.evaluate(() => ({
    part: document.querySelector('div.contents').clientWidth / document.documentElement.clientWidth,
    filter: getComputedStyle(document.documentElement).filter,
  }));
  for (const path of ['api/cpp/index.html', 'api/cpp/classallot_1_1System.html']) {
    await withPage(path, {width: 390}, async (page) => {
      const {part, filter} = await look(page);
      assert.ok(part > 0.85, `${path}: the text has ${part} of the width`);
      assert.equal(filter, 'none');
    });
    await withPage(path, {width: 390, colorScheme: 'dark'}, async (page) => assert.match((await look(page)).filter, /invert/));
  }
});

test('figures that are drawn for the dark lie on a dark ground there', {skip}, async () => {
  for (const path of ['docs/background/reproduction.html', 'ARCHITECTURE.html']) {
    for (const colorScheme of ['light', 'dark']) {
      await withPage(path, {width: 1280, colorScheme}, async (page) => {
        const grounds = await page.$$eval('.md-typeset img[src$=".svg"]', (images) => images.map((image) => getComputedStyle(image).backgroundColor));
        assert.ok(grounds.length > 0, path);
        for (const ground of grounds) assert.equal(ground, colorScheme === 'dark' ? 'rgb(24, 28, 34)' : 'rgba(0, 0, 0, 0)', `${path}, ${colorScheme}`);
      });
    }
  }
});
