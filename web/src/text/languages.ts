import { en, type Texts } from './en.ts';
import { ja } from './ja.ts';

/** Languages of the page. Another one is a file beside `en.ts` and a line here. */
const texts = { en, ja } as const satisfies Record<string, Texts>;
export type Language = keyof typeof texts;

export const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(texts, text);

export const languages = Object.keys(texts).filter(isLanguage);

export const selectTexts = (language: Language): Texts => texts[language];

/** The first of the browser's languages that the page has; English for none. */
export const preferredLanguage = (wanted: readonly string[]): Language =>
  wanted.map((tag) => tag.toLowerCase().split('-')[0]).find(isLanguage) ?? 'en';

/** What a key is called; one of a later version of the service as it is. */
export const nameIn = (names: Readonly<Record<string, string>>, key: string): string =>
  names[key] ?? key;
