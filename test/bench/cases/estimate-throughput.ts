import { estimateTextTokens } from '../../../shared/compaction/token-estimate.ts';
import type { BenchCase } from '../bench-case.ts';
import { elapsedMs } from '../elapsed.ts';

const CHARACTERS = 4_000_000;

const texts = {
  ascii: 'The order AB-1042 of 12 May costs 1,204.50 dollars, she said. ',
  cjk: '注文は五月十二日に届きます。주문은 다음 주에 도착합니다。订单将于下周送达。',
  json: '{"id":1042,"items":[{"sku":"AB-7","price":12.5,"ok":true}],"note":"left at the door"}\n',
} as const;

const megabytes = (text: string) => Buffer.byteLength(text, 'utf8') / 1e6;

/** One pass over the UTF-16 units that does nothing with them: what any estimate has to pay. */
function passOver(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index++) sum = (sum + text.charCodeAt(index)) | 0;
  return sum;
}

const throughputOf = (text: string, work: (text: string) => number) => () =>
  megabytes(text) / (elapsedMs(() => work(text)) / 1_000);

const notes = { ascii: '428 MB/s', cjk: '896 MB/s', json: '638 MB/s' } as const;

/** The token estimate over four million characters of each kind, against one pass over them. */
export const estimateCases = (): BenchCase[] =>
  (['ascii', 'cjk', 'json'] as const).map((kind) => {
    const text = texts[kind].repeat(Math.ceil(CHARACTERS / texts[kind].length));
    return {
      name: `estimate-${kind}`,
      unit: 'MB/s',
      referenceName: 'one pass over the characters',
      direction: 'atLeast',
      aim: 0.3,
      ours: throughputOf(text, (value) => estimateTextTokens(value, 'character-class')),
      reference: throughputOf(text, passOver),
      note: `Gemini CLI, November 2026: ${notes[kind]}`,
    };
  });
