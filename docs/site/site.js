// A table that is too wide for a narrow window: a block for each row, every cell with the name of its column, as in the explorer and in reports.
const boxOf = (table) => table.closest('.md-typeset__scrollwrap') ?? table;

function fit(table) {
  delete table.dataset.stacked;
  const box = boxOf(table);
  const isSqueezed = [...table.tBodies[0].querySelectorAll('td')].some((cell) => cell.clientWidth < 100 && cell.clientHeight > 150);
  if (window.innerWidth > 960 || (box.scrollWidth <= box.clientWidth + 1 && !isSqueezed)) return;
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, k) => { if (names[k]) cell.dataset.label = names[k]; });
  table.dataset.stacked = names.length > 5 ? 'numbers' : 'texts';
}

const observer = new ResizeObserver((entries) => {
  for (const table of new Set(entries.map(({target}) => target.querySelector?.('table') ?? target))) fit(table);
});
for (const table of document.querySelectorAll('.md-typeset table:not([class])')) {
  observer.observe(table);
  observer.observe(table.parentElement);
}

// What the theme leaves out for those who do not see the page.
document.querySelector('.md-search')?.setAttribute('aria-label', 'Search');
document.querySelector('.md-search__scrollwrap')?.setAttribute('tabindex', '0');
const reach = new ResizeObserver((entries) => {
  for (const {target} of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute('tabindex', '0');
    else target.removeAttribute('tabindex');
  }
});
for (const box of document.querySelectorAll('.md-typeset pre > code, .md-typeset p:has(> img)')) reach.observe(box);
