import type { Speaker } from '../summaries/ledger-lines.ts';

/** Languages in which a dense statement is reworded; in others (`other`) statements are only brought together. */
export type Language = 'en' | 'de' | 'ja' | 'zh' | 'ko' | 'other';

const words = (list: string): RegExp =>
  new RegExp(`(?<!\\p{L})(?:${list.split(' ').join('|')})(?!\\p{L})`, 'giu');

const german = words(
  'ich nicht und der die das ist ein eine mein meine mit wir für auf zu im am den dem hat',
);
const english = words(
  'i the a an and is are was my you your to of in it we for with on this that have has please at by no m s ve ll re t',
);

/** By its script, and where that is Latin by its commonest words. A heuristic; short statements are often `other`. */
export function detectLanguage(text: string): Language {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  if (/\p{Script=Han}/u.test(text)) return 'zh';
  const germanWords = text.match(german)?.length ?? 0;
  const englishWords = text.match(english)?.length ?? 0;
  if (germanWords === 0 && englishWords === 0) return 'other';
  return germanWords > englishWords ? 'de' : 'en';
}

/** The commonest language of the texts, `other` left out; English where there is none. */
export function commonLanguage(texts: readonly string[]): Language {
  const counts = new Map<Language, number>();
  for (const text of texts) {
    const language = detectLanguage(text);
    if (language !== 'other') counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 'en';
}

type Writing = Readonly<
  Record<Exclude<Speaker, 'snapshot'>, string> & {
    /** Between a speaker and what he says. */
    colon: string;
    /** Between statements. */
    semicolon: string;
    /** What refers to a turn. */
    turn: (numbers: string) => string;
  }
>;

const inEnglish: Writing = {
  user: 'User',
  model: 'Assistant',
  tool: 'Tool',
  colon: ': ',
  semicolon: '; ',
  turn: (numbers) => ` (turn${numbers.includes('-') ? 's' : ''} ${numbers})`,
};

/** How items are put together in each language. */
export const writings: Readonly<Record<Language, Writing>> = {
  en: inEnglish,
  other: inEnglish,
  de: { ...inEnglish, user: 'Nutzer', model: 'Assistent', turn: (numbers) => ` (Turn ${numbers})` },
  ja: {
    user: 'ユーザー',
    model: 'アシスタント',
    tool: 'ツール',
    colon: '：',
    semicolon: '；',
    turn: (numbers) => `（ターン${numbers}）`,
  },
  zh: {
    user: '用户',
    model: '助手',
    tool: '工具',
    colon: '：',
    semicolon: '；',
    turn: (numbers) => `（第${numbers}轮）`,
  },
  ko: {
    user: '사용자',
    model: '어시스턴트',
    tool: '도구',
    colon: ': ',
    semicolon: '; ',
    turn: (numbers) => ` (${numbers}번 턴)`,
  },
};
