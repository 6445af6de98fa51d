import type { App } from '#web/state/app.ts';
import { themes } from '#web/state/settings.ts';
import { isLanguage, languages } from '#web/text/languages.ts';

/** Language and colours. */
export function SettingsBar({ app }: { app: App }) {
  const texts = app.texts.value;
  const { language, theme } = app.settings;
  return (
    <footer class="settings">
      <select
        aria-label={texts.languageLabel}
        value={language.value}
        onChange={({ currentTarget: { value } }) => {
          if (isLanguage(value)) language.value = value;
        }}
      >
        {languages.map((known) => (
          <option key={known.language} value={known.language}>
            {known.languageName}
          </option>
        ))}
      </select>
      <select
        aria-label={texts.theme.label}
        value={theme.value}
        onChange={({ currentTarget: { value } }) => {
          theme.value = themes.find((known) => known === value) ?? 'system';
        }}
      >
        {themes.map((known) => (
          <option key={known} value={known}>
            {texts.theme[known]}
          </option>
        ))}
      </select>
    </footer>
  );
}
