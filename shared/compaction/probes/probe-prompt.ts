import { BLANK, type ProbeQuestion } from './probe-questions.ts';

/** What a model writes where the context does not say it. */
export const UNKNOWN = 'UNKNOWN';

/** The message that asks all questions at once; its answer is read by `scoreProbe`. */
export const probeText = (questions: readonly ProbeQuestion[]): string =>
  [
    'A check of what this conversation still says. Each numbered line below is a sentence that the user has said, with',
    `one value left out: ${BLANK}. For each line write its number and the value, such as "1: 30 May". Write "1: ${UNKNOWN}"`,
    'where nothing above says the value. Do not guess, and write nothing else.',
    '',
    ...questions.map(({ text, day }, i) => `${i + 1}${day === '' ? '' : ` (${day})`}: ${text}`),
  ].join('\n');
