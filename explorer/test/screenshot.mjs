// Takes the picture of docs/guides/explorer.md: `npm run screenshot`, after `make explorer`.
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
await tab.page.screenshot({path: process.argv[2] ?? join(root, 'docs/figures/explorer.png')});
await browser.close();
