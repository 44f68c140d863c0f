// What people could not read, reach or hear.
import {readFileSync} from 'node:fs';

const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** What axe-core finds wrong with the page as it stands. */
export async function violations(page) {
  await page.evaluate(`${axe};0`);
  return page.evaluate(async () =>
    (await globalThis.axe.run(document, {resultTypes: ['violations']})).violations.map(({id, help, nodes}) => `${id}: ${help}: ${nodes[0].html.slice(0, 200)}`));
}

/** Run in the page: complaints about what people could not read, reach or hear. */
export const look = async () => {
  const found = [];
  // What does not fit is stacked in the next frame.
  for (let frame = 0; frame < 3; ++frame) await new Promise(requestAnimationFrame);
  const box = (element) => element.getBoundingClientRect();
  const visible = (element) => box(element).width > 0 && box(element).height > 0 && getComputedStyle(element).visibility !== 'hidden';
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) found.push(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth}`);
  for (const table of document.querySelectorAll('.fit'))
    if (table.scrollWidth > table.clientWidth + 1) found.push(`${table.getAttribute('aria-label')}: columns are out of sight`);
  for (const control of document.querySelectorAll('button, select, input:not([type=hidden]):not([hidden])')) {
    if (control.getAttribute('aria-hidden') === 'true' || !visible(control)) continue;
    const name = control.getAttribute('aria-label') || control.labels?.[0]?.textContent || control.textContent;
    if (!name?.trim()) found.push(`${control.outerHTML.slice(0, 80)} has no name`);
  }
  for (const control of document.querySelectorAll('button, select, input, summary')) {
    const isLarge = (element) => element !== null && box(element).width >= 24 && box(element).height >= 24;
    if (visible(control) && !isLarge(control) && !isLarge(control.closest('label'))) found.push(`${control.outerHTML.slice(0, 80)} is too small to touch`);
  }
  for (const svg of document.querySelectorAll('.chart svg[role=img]')) {
    const frame = box(svg.parentElement);
    if (box(svg).right > frame.right + 1) found.push('a chart leaves its box');
    for (const text of svg.querySelectorAll('text'))
      if (visible(text) && (box(text).right > root.clientWidth || box(text).left < 0)) found.push(`"${text.textContent}" leaves the page`);
  }
  const rgba = (text) => text.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) =>
    [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/^rgba\(.*, 0\)$|transparent/.test(colour) && colour.startsWith('rgb')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const seen = new Set();
  for (const element of document.querySelectorAll('p, h1, h2, h3, h4, th, td, li, dt, dd, label, legend, caption, button, output, span, summary, .mark')) {
    if (!visible(element) || !element.textContent.trim() || element.closest(':disabled, .hidden, .skip, .off, .stale') || element.querySelector(':disabled')) continue;
    const style = getComputedStyle(element);
    const pair = `${style.color} on ${behind(element)}`;
    if (seen.has(pair)) continue;
    seen.add(pair);
    const [a, b] = pair.split(' on ').map((colour) => light(rgba(colour)));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(`"${element.textContent.trim().slice(0, 30)}" in ${pair} has a contrast of ${contrast.toFixed(1)}`);
  }
  return found;
};
