import { answerTime } from '../client-context/local-time.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import type { Turn } from '../conversation/documents/turn.ts';
import { turnCitations } from './cite-statements.ts';

/** UTF-16 units; the addresses of searches are long and tell nothing. */
const NAMES_CHARACTERS = 1_000;

/**
 * The sources of folded answers by short tags, as a summariser reads them behind the answer: words of somebody else, as
 * everything that tools say. None for turns without sources.
 */
export const sourceUtterances = (turns: readonly Turn[]): Utterance[] =>
  turns.flatMap((turn) => {
    const names = turnCitations(turn).map(
      ({ id, url, title = new URL(url).host }) => `${id} ${title}`,
    );
    if (names.length === 0) return [];
    const text = `sources of the answer: ${names.join('; ')}`.slice(0, NAMES_CHARACTERS);
    return [{ seq: turn.seq, speaker: 'tool' as const, text, at: answerTime(turn) }];
  });
