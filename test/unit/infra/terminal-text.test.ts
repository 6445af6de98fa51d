import { expect, test } from 'vitest';
import { terminalText } from '#infra/terminal-text.ts';

test.each([
  ['that fill the clipboard', '\u001b]52;c;ZXZpbA==\u0007', String.raw`\u001b]52;c;ZXZpbA==\u0007`],
  ['that hide text', '\u001b[8mhidden\u001b[0m', String.raw`\u001b[8mhidden\u001b[0m`],
  ['in eight bits', '\u009b31m\u009d0;x\u009c', String.raw`\u009b31m\u009d0;x\u009c`],
  ['that go back on the line', 'paid\r\bfree', String.raw`paid\u000d\u0008free`],
  ['that turn the writing', 'a\u202etxt.exe\u2066b\u200f', String.raw`a\u202etxt.exe\u2066b\u200f`],
  ['that nobody sees', 'a\u200bb\u00adc\ufeffd\u3164e', String.raw`a\u200bb\u00adc\ufeffd\u3164e`],
  ['that are tags', 'a\u{e0041}b', String.raw`a\udb40\udc41b`],
  ['that are half of one', 'a\ud800b', String.raw`a\ud800b`],
  ['that end lines elsewhere', 'a\u2028b\u2029c\u0085d', String.raw`a\u2028b\u2029c\u0085d`],
  ['that join nothing', '\u200d \u200c', String.raw`\u200d \u200c`],
])('text for a terminal shows characters %s', (_, text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

test.each(['two\nlines\tand a tab', 'Grüße, 안녕, สวัสดี, שלום, नमस्ते', '👩‍🚀 ❤️‍🔥 1️⃣ 🇰🇷', 'می‌خواهم'])(
  'text for a terminal keeps %j',
  (text) => {
    expect(terminalText(text)).toBe(text);
  },
);

test('JSON for a terminal says the same as before', () => {
  const value = { text: 'a\u202eb\u009bc\u{e0041}d\u007f\u001b]52;c;x\u0007' };

  const shown = terminalText(JSON.stringify(value));

  expect(JSON.parse(shown)).toEqual(value);
  expect(shown).toMatch(/^[\x20-\x7e]*$/u);
});
