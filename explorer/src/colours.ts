// Colours that colour-blind people can tell apart (Okabe and Ito), and a letter for each type, because nobody tells
// twelve colours apart.

const kPalette = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#8a8a8a'];

export const typeColour = (i: number): string => kPalette[i % kPalette.length]!;

/** Black or white, whichever is read more easily on the colour. */
export function inkOn(colour: string): string {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? '#ffffff' : '#000000';
}

export const typeLetter = (i: number): string => String.fromCharCode(65 + (i % 26));
