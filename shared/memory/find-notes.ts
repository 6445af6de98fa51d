import { contentWords } from '../compaction/facts/content-words.ts';
import { ownWords } from '../compaction/facts/own-words.ts';
import { finderOf } from '../search/find-in-text.ts';
import { isHit, scoresApart } from '../search/rank-texts.ts';
import { readSearchQuery } from '../search/search-query.ts';
import type { Note } from './note.ts';

/** The notes that a query finds, the best first. */
export function findNotes(notes: readonly Note[], query: string): Note[] {
  const find = finderOf(readSearchQuery(query));
  const found = notes.map(({ text, topics = [] }) => find([text, ...topics].join('\n')));
  const scores = scoresApart(found);
  return notes
    .map((note, i) => ({ note, counted: found[i], score: scores[i] ?? 0 }))
    .filter(({ counted }) => counted !== undefined && isHit(counted))
    .toSorted((one, other) => other.score - one.score)
    .map(({ note }) => note);
}

/** Whether the user, in his own words, speaks of what a note says: a word of it is enough. */
export function isSpokenOf({ text, topics = [] }: Note, messages: readonly string[]): boolean {
  const said = new Set(messages.flatMap((message) => contentWords(ownWords(message))));
  return contentWords([text, ...topics].join('\n')).some((word) => said.has(word));
}
