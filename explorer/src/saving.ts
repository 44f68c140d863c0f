// What leaves the page as a file: text, tables, charts.

export function save(name: string, content: BlobPart, type: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A name that every file system takes. */
export const fileName = (words: string): string =>
  words.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '').toLowerCase() || 'scenario';

export type CsvValue = string | number | null | undefined;

/** Text that a spreadsheet would take for a formula is quoted by an apostrophe. */
const csvCell = (value: CsvValue): string => {
  if (typeof value === 'number') return String(value);
  const text = (value ?? '').replace(/^(?=[=+\-@\t\r])/, "'");
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

export const csvOf = (rows: CsvValue[][]): string => rows.map((row) => `${row.map(csvCell).join(',')}\r\n`).join('');

export const jsonOf = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const kDrawn = ['fill', 'stroke', 'color', 'font-family', 'font-size', 'font-weight', 'font-variant', 'text-anchor', 'stroke-width', 'stroke-dasharray'] as const;

/** The chart as a file of its own: with the colours and fonts that the page gives it. */
export function svgOf(chart: SVGSVGElement): string {
  const copy = chart.cloneNode(true) as SVGSVGElement;
  const originals = [chart, ...chart.querySelectorAll<SVGElement>('*')];
  [copy, ...copy.querySelectorAll<SVGElement>('*')].forEach((part, at) => {
    const style = getComputedStyle(originals[at]!);
    for (const name of kDrawn) if (part === copy || part.hasAttribute(name)) part.setAttribute(name, style.getPropertyValue(name));
    part.removeAttribute('class');
    part.removeAttribute('style');
  });
  const {width, height} = chart.getBoundingClientRect();
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [['width', '100%'], ['height', '100%'], ['fill', getComputedStyle(chart).getPropertyValue('--surface')]] as const) paper.setAttribute(name, value);
  copy.prepend(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** The same as a picture, at twice the size, for slides and documents. */
export async function pngOf(chart: SVGSVGElement): Promise<Blob> {
  const {width, height} = chart.getBoundingClientRect();
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(chart))}`;
  await picture.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob === null ? reject(new Error('no picture')) : resolve(blob)), 'image/png');
  });
}
