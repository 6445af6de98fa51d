import { expect, test } from 'vitest';
import { terminalText } from '#infra/terminal-text.ts';

test.each([
  ['that fill the clipboard', '\u001b]52;c;ZXZpbA==\u0007', String.raw`\u001b]52;c;ZXZpbA==\u0007`],
  ['that hide text', '\u001b[8mhidden\u001b[0m', String.raw`\u001b[8mhidden\u001b[0m`],
  ['in eight bits', '\u009b31m\u009d0;x\u009c', String.raw`\u009b31m\u009d0;x\u009c`],
  ['that go back on the line', 'paid\r\bfree', String.raw`paid\u000d\u0008free`],
  ['that turn the writing', 'a\u202etxt.exe\u2066b\u200f', String.raw`a\u202etxt.exe\u2066b\u200f`],
  ['that nobody sees', 'a\u200bb\u00adc\ufeffd\u3164e', String.raw`a\u200bb\u00adc\ufeffd\u3164e`],
  ['that are half of one', 'a\ud800b', String.raw`a\ud800b`],
])('text for a terminal shows characters %s', (_, text, shown) => {
  expect(terminalText(text)).toBe(shown);
});

test.each(['two\nlines\tand a tab', 'Grüße, 안녕, สวัสดี, שלום, नमस्ते', '👩‍🚀 ❤️‍🔥 1️⃣ 🇰🇷', 'می‌خواهم'])(
  'text for a terminal keeps %j',
  (text) => {
    expect(terminalText(text)).toBe(text);
  },
);
