import { findAll, wholeMatch, type Finder, type FactMatch } from '../index/fact-match.ts';
import { holdsSign, signs } from '../index/signs.ts';

const clock =
  /(?<![\d:.])([01]?\d|2[0-4])[:：]([0-5]\d)(?::[0-5]\d)?(?![\d:])(?:\s?([ap])\.?m\b\.?)?/giu;
const twelveHours = /(?<![\d:.,])(1[0-2]|0?[1-9])(?:\.([0-5]\d))?\s?([ap])\.?m\b\.?/giu;
const oClock = /(?<![\d:.,])(1[0-2]|[1-9])\s?o'clock/giu;
const continental = /(?<![\d:.,])([01]?\d|2[0-4])\s?(?:h|Uhr)\s?([0-5]\d)?(?![\p{L}\d])/gu;
const eastern =
  /(오전|오후|아침|낮|저녁|밤|새벽|午前|午後|上午|下午|早上|中午|晚上|傍晚|凌晨|夜|朝)?\s?(?<!\d)([01]?\d|2[0-4])\s?[点點時时시](?!間|间|간|代|期|候|刻)\s?(?:([0-5]?\d)\s?[分분]|(半|반))?/gu;

const afternoonWords = /오후|저녁|밤|낮|午後|下午|晚上|傍晚|夜|中午/u;
const morningWords = /오전|아침|새벽|午前|上午|早上|凌晨|朝/u;

const padded = (value: number): string => String(value).padStart(2, '0');

type Half = 'am' | 'pm' | undefined;

/** Both halves of the day where the speaker names none. */
function readingsOf(hour: number, minute: number, half: Half): string[] {
  const hours: number[] = [];
  if (half === 'pm') hours.push(hour < 12 ? hour + 12 : hour);
  else if (half === 'am') hours.push(hour % 12);
  else if (hour >= 13 || hour === 0) hours.push(hour % 24);
  else hours.push(hour % 24, (hour + 12) % 24);
  return hours.map((value) => `${padded(value)}:${padded(minute)}`);
}

function halfOf(letter: string | undefined): Half {
  if (letter === undefined) return undefined;
  return letter.toLowerCase() === 'a' ? 'am' : 'pm';
}

function easternHalf(word: string | undefined): Half {
  if (word === undefined) return undefined;
  if (afternoonWords.test(word)) return 'pm';
  return morningWords.test(word) ? 'am' : undefined;
}

function timeFound(match: RegExpExecArray, hour: string | undefined, rest: Rest): FactMatch {
  const readings = readingsOf(Number(hour), Number(rest.minute ?? 0), rest.half);
  const lead = match[0].length - match[0].trimStart().length;
  const found = wholeMatch(match, 'time', readings);
  return { ...found, start: found.start + lead, end: found.start + match[0].trimEnd().length };
}

interface Rest {
  minute?: string | undefined;
  half: Half;
}

/** Times of day. Without a half of the day, 3:30 reads as 03:30 and 15:30. */
export const findTimes: Finder = (text) =>
  /\d/.test(text)
    ? [
        ...(holdsSign(text, signs.colon | signs.beyondAscii)
          ? findAll(text, clock, (match) =>
              timeFound(match, match[1], { minute: match[2], half: halfOf(match[3]) }),
            )
          : []),
        ...findAll(text, twelveHours, (match) =>
          timeFound(match, match[1], { minute: match[2], half: halfOf(match[3]) }),
        ),
        ...(holdsSign(text, signs.quote)
          ? findAll(text, oClock, (match) => timeFound(match, match[1], { half: undefined }))
          : []),
        ...findAll(text, continental, (match) =>
          timeFound(match, match[1], { minute: match[2], half: undefined }),
        ),
        ...(holdsSign(text, signs.beyondAscii)
          ? findAll(text, eastern, (match) =>
              timeFound(match, match[2], {
                minute: match[4] === undefined ? match[3] : '30',
                half: easternHalf(match[1]),
              }),
            )
          : []),
      ]
    : [];
