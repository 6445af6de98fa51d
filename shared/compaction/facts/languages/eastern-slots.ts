import { plainText } from '#shared/text/plain-text.ts';
import type { FactMatch } from '../index/fact-match.ts';
import { findMatches } from '#shared/text/matches.ts';

/** What stands behind them is what is wanted, where the sentence asks: 想吃海参, 爱喝雪碧. */
const consuming = /(?:吃|喝|尝|尝尝|品尝|吃到|喝到)$/u;
/** Behind them stands a place: 去孔庙, 逛簋街, 住友谊宾馆. */
const going = /(?:去|逛|逛逛|参观|游览|住|住在)$/u;
/** What stands between them and 的 tells which one is wanted: 有泡菜的餐馆. */
const having = /(?:有|提供|卖|做|带)$/u;
const attributive = /^(?:的|[这那][个些道种]?)$/u;
/** What is told of something: 听朋友说角楼很好玩. */
const telling = /(?:说|听说)$/u;
const praising = /^(?:很|挺|还|特别|比较|非常|真|超|不错|好)/u;

/** What stands around a stretch of words that may be a value. */
interface Slot {
  before: string;
  after: string;
  isAsking: boolean;
}

/**
 * Whether what stands in such a place of a Chinese sentence is a value, however short it is. `isPlace` tells
 * whether it ends as places do, `isKnown` whether it is one word of the dictionary. A heuristic.
 */
export function isSlotFilled(
  { before, after, isAsking }: Slot,
  { isPlace, isKnown }: { isPlace: boolean; isKnown: boolean },
): boolean {
  if (consuming.test(before)) return isAsking;
  if (going.test(before)) return isPlace || !isKnown;
  if (having.test(before)) return isAsking && attributive.test(after);
  return telling.test(before) && praising.test(after);
}

/** `找个不免费的景点`: what stands before 的 is how it is wanted; not what it has, nor where it is. */
const attribute =
  /(?:找|推荐|介绍|订|定|选|要|来)[^，。！？,.!?;；\n]{0,8}?[个家些座处间款种道条]([^，。！？,.!?;；\n的\d]{2,8})的(?=\p{sc=Han})/gu;
const otherwiseRead =
  /^(?:别|其他|其它|另|有|能|可以|会|提供|在|离|从|到|去|是|附近|周边|周围|旁边|我|你|他|她)/u;

/** How something is wanted, in the words of a Chinese request. */
export function findWantedAttributes(text: string): FactMatch[] {
  const found: FactMatch[] = [];
  for (const match of findMatches(text, attribute)) {
    const written = match[1] ?? '';
    if (otherwiseRead.test(written)) continue;
    const end = match.index + match[0].length - '的'.length;
    const start = end - written.length;
    found.push({ kind: 'term', start, end, readings: [plainText(written)] });
  }
  return found;
}
