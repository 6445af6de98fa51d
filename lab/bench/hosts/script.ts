import { z } from 'zod';

/** What a stream of Gemini is asked by. */
export const MODEL_PATH = '/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse';

/** How the scripted model speaks: so many events, the first after `firstMs`, the others `eventMs` apart; 0: at once. */
export const scriptSchema = z.object({
  events: z.int().min(1).default(64),
  firstMs: z.number().min(0).default(0),
  eventMs: z.number().min(0).default(0),
});
export type Script = z.infer<typeof scriptSchema>;

const things = ['boats', 'cranes', 'gulls', 'nets', 'ropes', 'lamps', 'crates'] as const;
const times = ['at dawn', 'at noon', 'in the evening', 'at night', 'all day'] as const;
const places = ['the pier', 'the mole', 'the dock', 'the light'] as const;

/** What event `index` says, about eight tokens; far from each other no two are alike, so that it is no loop. */
export function sentenceOf(index: number): string {
  const pick = <T>(words: readonly T[], step: number) => words[(index * step) % words.length];
  const quay = String(index).padStart(4, '0');
  return `Quay ${quay} has ${pick(things, 3)} by ${pick(places, 1)} ${pick(times, 2)}. `;
}

/** Only who was told everything has heard them. */
export const lastWordsOf = ({ events }: Script): string => sentenceOf(events - 1).trim();
