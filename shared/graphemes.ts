import { once } from './once.ts';

/** Cuts texts into what readers take for characters: an emoji with its modifiers, the jamo of a syllable, a flag. */
export const graphemes = once(() => new Intl.Segmenter('en', { granularity: 'grapheme' }));
