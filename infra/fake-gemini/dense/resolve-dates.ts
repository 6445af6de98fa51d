import { germanDates, englishDates } from './western-dates.ts';
import { chineseDates, japaneseDates, koreanDates } from './eastern-dates.ts';
import type { Language } from './language.ts';
import type { DateRule } from './calendar.ts';

const rules: Readonly<Record<Language, readonly DateRule[]>> = {
  en: englishDates,
  de: germanDates,
  ja: japaneseDates,
  zh: chineseDates,
  ko: koreanDates,
  other: [],
};

/** `went there yesterday`, said on 2023-05-08 → `went there 2023-05-07`. What has no one meaning stays as it is. */
export function resolveDates(text: string, day: string, language: Language): string {
  return rules[language].reduce(
    (resolved, [pattern, date]) =>
      resolved.replace(
        pattern,
        (found: string, group: unknown) =>
          date(day, typeof group === 'string' ? group : '') ?? found,
      ),
    text,
  );
}
