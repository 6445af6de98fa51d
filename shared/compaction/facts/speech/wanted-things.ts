import { findAll, type FactMatch } from '../index/fact-match.ts';
import { plainText } from './plain-text.ts';

/** `What about a love story by …`: two words or three; one alone is seldom a value (a place, a restaurant). */
const wanted =
  /\b(?:(?:what|how) about|find me|show me|recommend me|recommend)\s(?:an?|some|any)\s(?!lot|bit|few|new|nice|good|other|more|different)([a-z]+(?:[ -](?!directed|starring|called|named)[a-z]+){1,2}?)(?=\s(?:directed|starring|by|in|with|near|from|for|that|which|at|on|to|where|who|around|please|too|then|instead)\b|[.,?!]|$)/dgi;

/** What a user of English asks for in common words. Heuristic: the words up to a preposition or a sign. */
export const findWantedThings = (text: string): FactMatch[] =>
  findAll(text, wanted, (match) => {
    const [start, end] = match.indices?.[1] ?? [0, 0];
    return { kind: 'term', start, end, readings: [plainText(text.slice(start, end))] };
  });
