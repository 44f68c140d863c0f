// The documentation site, where it has been built: can it be read in a narrow window, and in the dark?
import assert from 'node:assert/strict';
import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {violations} from './look.mjs';
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

/** The pages that come from Markdown. */
const written = () => readdirSync(built, {recursive: true}).filter((name) => name.endsWith('.html') && !name.startsWith('api/cpp/') && name !== 'api/explorer/index.html');

/** Run in the page: what nobody could see or read. */
const look = async () => {
  const found = [];
  // Tables that do not fit are stacked in the next frames.
  for (let frame = 0; frame < 6; ++frame) await new Promise(requestAnimationFrame);
  const {scrollWidth, clientWidth} = document.documentElement;
  if (scrollWidth > clientWidth) found.push(`it is ${scrollWidth} px wide in a window of ${clientWidth}`);
  for (const image of document.images) if (image.complete && image.naturalWidth === 0) found.push(`no picture ${image.src}`);
  for (const box of document.querySelectorAll('.md-typeset__scrollwrap'))
    if (box.scrollWidth > box.clientWidth + 1) found.push(`columns out of sight: ${box.textContent.trim().slice(0, 40)}`);
  const texts = document.createTreeWalker(document.querySelector('.md-content'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const {data, parentElement: of} = texts.currentNode;
    if (!data.trim() || of.closest('script, style') || !of.checkVisibility()) continue;
    if (parseFloat(getComputedStyle(of).fontSize) < 11) found.push(`small letters: ${data.trim().slice(0, 40)}`);
    if (!of.closest('pre, code') && /\*\*|`|\]\(|^\s*\||^#+ /.test(data)) found.push(`Markdown: ${data.trim().slice(0, 40)}`);
    if (of.tagName === 'TD' && /^\d+\. \w/.test(data)) found.push(`an item of a list in a table: ${data.trim().slice(0, 40)}`);
  }
  let above = 0;
  for (const heading of document.querySelectorAll('.md-content :is(h1, h2, h3, h4, h5, h6)')) {
    const level = Number(heading.tagName[1]);
    if (level > above + 1) found.push(`a heading of level ${level} below one of ${above}: ${heading.textContent}`);
    above = level;
  }
  return found;
};

/** One page of each kind. */
const samples = ['index.html', 'docs/tutorial.html', 'docs/benchmarks.html', 'docs/guides/executor.html', 'docs/decisions/0030-site.html', 'docs/reference/command.html',
  'paper/index.html', 'api/python.html'];

for (const [width, colorScheme, pages] of [[390, 'light', written], [1280, 'dark', () => samples]]) {
  test(`pages can be read in a window of ${width} px, ${colorScheme}`, {skip}, async () => {
    const context = await browser.newContext({viewport: {width, height: 844}, colorScheme});
    const page = await context.newPage();
    const complaints = [];
    let path;
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(`${path}: ${message.text()}`);
    });
    page.on('pageerror', (error) => complaints.push(`${path}: ${error}`));
    for (path of pages()) {
      await page.goto(pathToFileURL(join(built, path)).href);
      for (const complaint of await page.evaluate(look)) complaints.push(`${path}: ${complaint}`);
    }
    await context.close();
    assert.deepEqual(complaints, []);
  });
}

test('pages of each kind are for everybody', {skip}, async () => {
  const found = [];
  for (const path of samples) {
    for (const [width, colorScheme] of [[390, 'dark'], [1280, 'light']]) {
      await withPage(path, {width, colorScheme}, async (page) => found.push(...(await violations(page)).map((what) => `${path}, ${width} px, ${colorScheme}: ${what}`)));
    }
  }
  assert.deepEqual(found, []);
});

test('no C++ page is wider than its window', {skip}, async () => {
  for (const path of ['index', 'annotated', 'files', 'classes', 'classallot_1_1System', 'structallot_1_1SimulationResult']) {
    for (const width of [1280, 390]) {
      await withPage(`api/cpp/${path}.html`, {width}, async (page) => {
        for (const selector of ['html', '#doc-content']) {
          const [inside, window] = await page.$eval(selector, (box) => [box.scrollWidth, box.clientWidth]);
          assert.ok(inside <= window, `${path} is ${inside} px wide in a window of ${window}`);
        }
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
