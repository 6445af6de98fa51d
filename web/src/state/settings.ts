import { effect, signal, type Signal } from '@preact/signals';
import { isLanguage, type Language } from '../text/languages.ts';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

/** What the user chose; kept in this browser. */
export interface Settings {
  language: Signal<Language>;
  theme: Signal<Theme>;
}

const isTheme = (text: string | null): text is Theme => themes.some((theme) => theme === text);

export function createSettings(
  storage: Pick<Storage, 'getItem' | 'setItem'>,
  preferred: Language,
): Settings {
  const storedLanguage = storage.getItem('recap.language');
  const storedTheme = storage.getItem('recap.theme');
  const language = signal<Language>(isLanguage(storedLanguage) ? storedLanguage : preferred);
  const theme = signal<Theme>(isTheme(storedTheme) ? storedTheme : 'system');
  const first = language.value;
  let isChosen = false;
  effect(() => {
    document.documentElement.lang = language.value;
    // Who never chose one gets the browser's, also when that changes.
    isChosen ||= language.value !== first;
    if (isChosen) storage.setItem('recap.language', language.value);
  });
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    storage.setItem('recap.theme', theme.value);
  });
  return { language, theme };
}
