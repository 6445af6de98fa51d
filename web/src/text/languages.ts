import { en, type Texts } from './en.ts';
import { ja } from './ja.ts';

/** Languages of the page. Another one is a file beside `en.ts` and a line here. */
const texts = { en, ja } as const satisfies Record<string, Texts>;
export type Language = keyof typeof texts;

export const languages: readonly Language[] = ['en', 'ja'];

export const isLanguage = (text: string | null | undefined): text is Language =>
  text !== null && text !== undefined && Object.hasOwn(texts, text);

export const selectTexts = (language: Language): Texts => texts[language];

/** The first of the browser's languages that the page has; English for none. */
export function preferredLanguage(wanted: readonly string[]): Language {
  for (const tag of wanted) {
    const [language] = tag.toLowerCase().split('-');
    if (isLanguage(language)) return language;
  }
  return 'en';
}

/** What a key is called; one of a later version of the service as it is. */
export const nameIn = (names: Readonly<Record<string, string>>, key: string): string =>
  names[key] ?? key;
