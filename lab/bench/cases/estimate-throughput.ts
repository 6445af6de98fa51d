import { estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { BenchCase } from '../bench-case.ts';
import { elapsedMs } from '../elapsed.ts';
import { estimateText, megabytesOf, textKinds } from '../estimate-texts.ts';

const CHARACTERS = 4_000_000;

/** One pass over the UTF-16 units that does nothing with them: what any estimate has to pay. */
function passOver(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum = (sum + text.charCodeAt(index)) | 0;
  return sum;
}

const throughputOf = (text: string, work: (text: string) => number) => () =>
  megabytesOf(text) / (elapsedMs(() => work(text)) / 1_000);

/** The token estimate over four million characters of each kind, against one pass over them. */
export const estimateCases = (): BenchCase[] =>
  textKinds.map((kind) => {
    const text = estimateText(kind, CHARACTERS);
    return {
      name: `estimate-${kind}`,
      unit: 'MB/s',
      referenceName: 'one pass over the characters',
      direction: 'atLeast',
      aim: 0.3,
      ours: throughputOf(text, (value) => estimateTextTokens(value, 'character-class')),
      reference: throughputOf(text, passOver),
    };
  });
