import { HIDDEN_CHARACTER } from '#shared/text/plain-text.ts';

/** What a terminal obeys, or does not show: all but line ends and tabs. */
const UNSAFE = new RegExp(
  String.raw`${HIDDEN_CHARACTER}|(?![\n\t])[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]`,
  'gu',
);

const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

/**
 * Text of others, safe to print on a terminal: sequences that move the cursor, hide text or fill the clipboard, marks that
 * turn the direction of writing, and characters that nobody sees become visible escapes (`\u001b`). In JSON they say
 * the same as before.
 */
export const terminalText = (text: string): string => text.replaceAll(UNSAFE, escaped);

/** Text of one message: its further lines are set in, so that none looks like the beginning of another message. */
export const indented = (text: string): string => text.replaceAll('\n', '\n    ');
