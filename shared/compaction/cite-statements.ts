import { answerTime } from '#shared/conversation/local-time.ts';
import { answerText } from '#shared/models/content.ts';
import { everyItem, type Item, type Snapshot } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { cutHead } from '#shared/text/cut.ts';
import { distinctUnits, shareIn } from '#shared/text/words.ts';
import { sourceId, type Citation } from '#shared/models/grounding.ts';

/** Citations that a snapshot keeps, the newest. */
const CITATIONS_MAX = 100;
/** Of one source. */
const CLAIMS_MAX = 3;
/** UTF-16 units. */
const CLAIM_CHARACTERS = 300;
/** A statement is told in other words than the answer: so many of those of either stand in the other. */
const COMMON_SHARE = 0.5;

/** The sources of a turn with what they bear out. */
function turnCitations({ seq, contents, grounding }: Turn): Citation[] {
  const text = answerText(contents);
  return (grounding?.sources ?? []).map(({ url, title, spans = [] }, index) => ({
    id: sourceId(seq, index),
    seq,
    url,
    ...(title !== undefined && { title }),
    claims: spans
      .slice(0, CLAIMS_MAX)
      .map(({ start, end }) => cutHead(text.slice(start, end), CLAIM_CHARACTERS))
      .filter((claim) => claim.trim() !== ''),
  }));
}

/** Which of these citations bear a statement out: those of its turns whose passage tells the same, or that tell none. */
export function citationsFor(
  { sources, text }: Pick<Item, 'sources' | 'text'>,
  citations: readonly Citation[],
): Citation[] {
  const ofTurns = citations.filter(({ seq }) => sources.includes(seq));
  if (ofTurns.length === 0) return [];
  const said = distinctUnits(text);
  const tells = (claim: string): boolean => {
    const units = distinctUnits(claim);
    return shareIn(units, said) >= COMMON_SHARE || shareIn(said, units) >= COMMON_SHARE;
  };
  return ofTurns.filter(({ claims }) => claims.length === 0 || claims.some(tells));
}

/**
 * A snapshot with the citations that bear out what it says: of those that were known, and of the turns that are folded.
 * The same object where there are none.
 */
export function withCitations(
  snapshot: Snapshot,
  { previous, turns }: { previous: Snapshot | undefined; turns: readonly Turn[] },
): Snapshot {
  const known = [...(previous?.citations ?? []), ...turns.flatMap(turnCitations)];
  const byId = new Map(known.map((citation) => [citation.id, citation]));
  if (byId.size === 0 && snapshot.citations === undefined) return snapshot;
  const { citations: _, ...rest } = snapshot;
  const all = [...byId.values()];
  const used = new Set(everyItem(snapshot).flatMap((item) => citationsFor(item, all)));
  const kept = all.filter((citation) => used.has(citation)).slice(-CITATIONS_MAX);
  return kept.length === 0 ? rest : { ...rest, citations: kept };
}

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
