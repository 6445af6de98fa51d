import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';

/** 0 to 1: how much of the expected answer stands in the reply. */
export type ProbeScore = (expected: string, reply: string) => number;

const survivalSchema = z.looseObject({
  answerScore: z.custom<(answer: string, places: object[]) => number>(isFunction),
  norm: z.custom<(text: string) => string>(isFunction),
  content: z.custom<(text: string) => string[]>(isFunction),
  extractFacts: z.custom<(turns: object[]) => { cls: string; key: string }[]>(isFunction),
});

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

const normalised = (text: string): string =>
  ` ${text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `;

/** 1 when the expected answer stands in the reply word for word, case and punctuation aside; else 0. */
export const containmentScore: ProbeScore = (expected, reply) =>
  normalised(reply).includes(normalised(expected)) ? 1 : 0;

async function survivalScore(path: string): Promise<ProbeScore> {
  const module: unknown = await import(pathToFileURL(path).href);
  const { answerScore, norm, content, extractFacts } = survivalSchema.parse(module);
  return (expected, reply) => {
    const facts = extractFacts([{ role: 'model', parts: [{ text: reply }] }]);
    const dates = facts.filter(({ cls }) => cls === 'date').map(({ key }) => key);
    const place = { n: norm(reply), bag: new Set(content(reply)), dates: new Set(dates) };
    return answerScore(expected, [place]);
  };
}

/**
 * The measure: `answerScore` of the module at `path`, else containment of the answer. Throws when the
 * module cannot be loaded or lacks what is needed.
 */
export async function loadProbeScore(
  path: string | undefined,
): Promise<{ score: ProbeScore; name: string }> {
  if (path === undefined) return { score: containmentScore, name: 'containment of the answer' };
  return { score: await survivalScore(resolve(path)), name: 'answerScore of the survival module' };
}
