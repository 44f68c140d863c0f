// Takes the pictures of docs/guides/explorer.md: `npm run screenshot`, after `make explorer`.
import {join} from 'node:path';
import {launch, newTab, open, root, settled} from './support.mjs';

const browser = await launch();
const tab = await newTab(browser, {viewport: {width: 1360, height: 1420}});
await open(tab);
await tab.page.selectOption('#preset', 'priorities');
await settled(tab.page);
await tab.page.check('input[name=view][value=priority]');
await tab.page.waitForSelector('#frontier');
await tab.page.focus('#frontier');
for (let press = 0; press < 6; ++press) await tab.page.keyboard.press('ArrowRight');
await tab.page.click('[aria-label^="render on cpu"]');
await tab.page.waitForSelector('#beside tr[data-key=jsq]:not([data-value=""])');
await tab.page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
const folder = process.argv[2] ?? join(root, 'docs/figures');
await tab.page.screenshot({path: join(folder, 'explorer.png')});

// Tall enough that nothing scrolls below the headline.
await tab.page.setViewportSize({width: 1360, height: 2600});
await tab.page.selectOption('#preset', 'workstation');
await tab.page.check('input[name=service][value=planned]');
await tab.page.check('input[name=objective][value=max-min]');
await tab.page.waitForFunction(() => JSON.parse(document.querySelector('#fairness')?.dataset.marked ?? '[]').length === 2);
await tab.page.waitForSelector('#fairness svg');
await tab.page.focus('#level');
for (let press = 0; press < 5; ++press) await tab.page.keyboard.press('ArrowRight');
await tab.page.evaluate(() => document.activeElement.blur());
await tab.page.locator('#results').screenshot({path: join(folder, 'explorer-plan.png')});
await browser.close();
